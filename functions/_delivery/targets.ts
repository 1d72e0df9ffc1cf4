import { lookup as resolve } from "node:dns";
import { lookup as resolveAsync } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { env } from "../_runtime/env.ts";

/** A webhook target that we do not connect to. */
export class TargetRefused extends Error {
  override readonly name = "TargetRefused";
}

/** All that IPv6 has given out (RFC 4291, 2.4); outside lie ranges that only look unused, such as ::127.0.0.1. */
const globalIpv6 = ipaddr.IPv6.parseCIDR("2000::/3");

/** Only global unicast addresses are public; an IPv4 address inside IPv6 counts as itself. */
function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  const isGlobal = !(address instanceof ipaddr.IPv6) || address.match(globalIpv6);
  return isGlobal && address.range() === "unicast";
}

/**
 * What can be told from a webhook's URL alone.
 * @throws {TargetRefused} saying what a webhook URL must be
 */
export function parseTarget(text: string): URL {
  const url = URL.parse(text);
  const any = env().WEBHOOK_TARGETS === "any";
  if (url === null || (url.protocol !== "https:" && !(any && url.protocol === "http:"))) {
    throw new TargetRefused(
      any ? "A webhook URL begins with https:// or http://." : "A webhook URL begins with https://.",
    );
  }
  if (url.username !== "" || url.password !== "")
    throw new TargetRefused("A webhook URL carries no user name or password.");
  if (any) return url;
  if (url.port !== "") throw new TargetRefused("A webhook URL uses port 443.");
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) assertPublic([host]);
  return url;
}

function assertPublic(addresses: readonly string[]): void {
  if (addresses.length > 0 && addresses.every(isPublicAddress)) return;
  throw new TargetRefused("The webhook's host has an address that is not public.");
}

/**
 * Checks a target with its resolved addresses, as at registration.
 * @throws {TargetRefused}
 */
export async function assertTarget(text: string): Promise<void> {
  const url = parseTarget(text);
  if (env().WEBHOOK_TARGETS === "any" || isIP(url.hostname.replace(/^\[|\]$/g, "")) !== 0) return;
  const found = await resolveAsync(url.hostname, { all: true }).catch(() => {
    throw new TargetRefused("The webhook's host name does not resolve.");
  });
  assertPublic(found.map(({ address }) => address));
}

/**
 * Resolves a host for one connection and hands over only checked addresses. The connection is made to what
 * was checked here, so a name that resolves differently a moment later gains nothing.
 */
export const checkedLookup: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, found) => {
    if (error) return callback(error, [], undefined);
    try {
      if (env().WEBHOOK_TARGETS !== "any") assertPublic(found.map(({ address }) => address));
    } catch (refused) {
      return callback(refused as Error, [], undefined);
    }
    const [first] = found;
    if (options.all || first === undefined) return callback(null, found, undefined);
    return callback(null, first.address, first.family);
  });
};
