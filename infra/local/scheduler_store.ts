import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { ScheduleRequest } from "./scheduler_request.ts";

/** A schedule as it was created. Instants are in ms. */
export interface StoredSchedule {
  name: string;
  request: ScheduleRequest;
  createdAt: number;
  /** When it runs next; undefined when no run is left. */
  nextAt: number | undefined;
}

/** One run that is due, until its target has taken it. */
export interface Firing {
  id: number;
  target: ScheduleRequest["Target"];
  scheduledAt: number;
  /** Not to be tried before. */
  notBefore: number;
  attempts: number;
}

type Row = Record<string, unknown>;

/**
 * Keeps schedules and their runs, by SQLite: a change is on disk when the method returns, also when the process is
 * killed at the next instant.
 */
export class SchedulerStore {
  readonly #db: DatabaseSync;

  /** @param dataDir undefined: in memory */
  constructor(dataDir: string | undefined) {
    this.#db = new DatabaseSync(dataDir === undefined ? ":memory:" : join(dataDir, "scheduler.db"));
    this.#db.exec(`
      CREATE TABLE IF NOT EXISTS schedules (
        "group" TEXT, name TEXT, request TEXT NOT NULL, created_at INTEGER NOT NULL, next_at INTEGER,
        PRIMARY KEY ("group", name)
      );
      CREATE INDEX IF NOT EXISTS by_next ON schedules (next_at);
      CREATE TABLE IF NOT EXISTS firings (
        id INTEGER PRIMARY KEY, target TEXT NOT NULL, scheduled_at INTEGER NOT NULL, not_before INTEGER NOT NULL,
        attempts INTEGER NOT NULL
      );
    `);
  }

  find(group: string, name: string): StoredSchedule | undefined {
    const row = this.#db.prepare('SELECT * FROM schedules WHERE "group" = ? AND name = ?').get(group, name);
    return row && scheduleOf(row);
  }

  put({ name, request, createdAt, nextAt }: StoredSchedule): void {
    this.#db
      .prepare('INSERT OR REPLACE INTO schedules ("group", name, request, created_at, next_at) VALUES (?, ?, ?, ?, ?)')
      .run(request.GroupName, name, JSON.stringify(request), createdAt, nextAt ?? null);
  }

  /** False when there is none. */
  remove(group: string, name: string): boolean {
    return this.#db.prepare('DELETE FROM schedules WHERE "group" = ? AND name = ?').run(group, name).changes > 0;
  }

  due(nowMs: number): StoredSchedule[] {
    return this.#db.prepare("SELECT * FROM schedules WHERE next_at <= ?").all(nowMs).map(scheduleOf);
  }

  /** Turns a schedule's due run into a firing and sets the one after it, both or neither. */
  fire(schedule: StoredSchedule, notBefore: number, nextAt: number | undefined): void {
    const { name, request } = schedule;
    this.#db.exec("BEGIN IMMEDIATE");
    this.#db
      .prepare("INSERT INTO firings (target, scheduled_at, not_before, attempts) VALUES (?, ?, ?, 0)")
      .run(JSON.stringify(request.Target), schedule.nextAt ?? 0, notBefore);
    if (nextAt === undefined && request.ActionAfterCompletion === "DELETE") this.remove(request.GroupName, name);
    else this.put({ ...schedule, nextAt });
    this.#db.exec("COMMIT");
  }

  dueFirings(nowMs: number): Firing[] {
    return this.#db.prepare("SELECT * FROM firings WHERE not_before <= ? ORDER BY id").all(nowMs).map(firingOf);
  }

  retry({ id, attempts }: Firing, notBefore: number): void {
    this.#db.prepare("UPDATE firings SET attempts = ?, not_before = ? WHERE id = ?").run(attempts + 1, notBefore, id);
  }

  done({ id }: Firing): void {
    this.#db.prepare("DELETE FROM firings WHERE id = ?").run(id);
  }

  close(): void {
    this.#db.close();
  }
}

const scheduleOf = ({ name, request, created_at, next_at }: Row): StoredSchedule => ({
  name: String(name),
  request: JSON.parse(String(request)),
  createdAt: Number(created_at),
  nextAt: next_at === null ? undefined : Number(next_at),
});

const firingOf = ({ id, target, scheduled_at, not_before, attempts }: Row): Firing => ({
  id: Number(id),
  target: JSON.parse(String(target)),
  scheduledAt: Number(scheduled_at),
  notBefore: Number(not_before),
  attempts: Number(attempts),
});
