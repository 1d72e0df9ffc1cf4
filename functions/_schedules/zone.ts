import { closest } from "fastest-levenshtein";

/*
 * Wall-clock times of a zone are numbers here: the milliseconds that the same reading would be in UTC. So they are
 * added, compared and shown by `Date` without a zone, and this process's own zone plays no part.
 */

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  formats.set(zone, format);
  return format;
}

/** What the clocks of `zone` show at an instant (ms). */
export function wallTime(zone: string, instantMs: number): number {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(instantMs)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  return Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second"));
}

const dayMs = 86_400_000;
const offsetAt = (zone: string, instantMs: number) => wallTime(zone, instantMs) - Math.floor(instantMs / 1000) * 1000;

/**
 * When the clocks of `zone` show a time: undefined when they skip it, the first time when they show it twice. No
 * zone changes its clocks twice within two days, so one of the offsets around it holds.
 */
export function instantOf(zone: string, wallMs: number): number | undefined {
  const around = [wallMs - dayMs, wallMs + dayMs].map((instantMs) => wallMs - offsetAt(zone, instantMs));
  const shown = around.filter((instantMs) => wallTime(zone, instantMs) === wallMs);
  return shown.length === 0 ? undefined : Math.min(...shown);
}

/** `2027-03-14T09:00:00-04:00`: an instant as the zone's clocks show it, with their distance from UTC. */
export function localIso(zone: string, instantMs: number): string {
  const wallMs = wallTime(zone, instantMs);
  const minutes = Math.round(offsetAt(zone, instantMs) / 60_000);
  const pad = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const offset = `${minutes < 0 ? "-" : "+"}${pad(Math.abs(minutes) / 60)}:${pad(Math.abs(minutes) % 60)}`;
  return `${new Date(wallMs).toISOString().slice(0, 19)}${offset}`;
}

/** A zone by its name in the IANA time zone database; undefined when there is none. Offsets are no names. */
export function zoneNamed(name: string): string | undefined {
  if (!/^[A-Za-z]/.test(name)) return undefined;
  const listed = Intl.supportedValuesOf("timeZone").find((zone) => zone.toLowerCase() === name.toLowerCase());
  if (listed !== undefined) return listed;
  try {
    // Names that are links to others (Asia/Kolkata, UTC) are known, and not listed.
    formatOf(name);
    return name;
  } catch {
    return undefined;
  }
}

/** The listed zone whose name is nearest, also by its city alone. */
export function nearestZone(name: string): string {
  const zones = Intl.supportedValuesOf("timeZone");
  const city = name.trim().toLowerCase().replaceAll(" ", "_");
  return zones.find((zone) => zone.toLowerCase().endsWith(`/${city}`)) ?? closest(name, zones);
}
