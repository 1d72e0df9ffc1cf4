import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../infra/local/loopback.ts";
import { root } from "./python_tools.ts";

/** AWS on this machine: ministack, with IAM enforced, over TLS. */
export interface Emulator {
  /** Where everything is, also each API: `<endpoint>/_aws/execute-api/<api id>/$default`. */
  endpoint: string;
  /** What AWS's own tools and SDKs need to reach it. */
  env: Record<string, string>;
  /** The last that it has printed. */
  log(): string;
  stop(): Promise<void>;
}

/**
 * Starts a fresh one: nothing is kept between runs. With AUTH each function has only what its role allows, and
 * policies that refuse plain HTTP hold, so it is reached over TLS by a certificate made for this run.
 */
export async function startEmulator(pythonBin: string): Promise<Emulator> {
  // Not below the repository, whose package.json would make ES modules of the emulator's own scripts.
  const folder = mkdtempSync(join(tmpdir(), "switchboard-e2e-"));
  const [certificate, key] = makeCertificate(folder);
  const port = await freePort();
  const endpoint = `https://127.0.0.1:${port}`;
  const logFile = join(root, ".cache/ministack.log");
  mkdirSync(join(root, ".cache"), { recursive: true });
  const log = openSync(logFile, "w");
  const child = spawn(join(pythonBin, "python"), [join(import.meta.dirname, "start_ministack.py")], {
    cwd: folder,
    detached: true,
    stdio: ["ignore", log, log],
    // The functions inherit it: nothing of the operator's own environment.
    env: {
      PATH: `${join(root, "node_modules/.bin")}:${process.env.PATH}`,
      TMPDIR: folder,
      HOME: folder,
      AUTH: "true",
      USE_SSL: "1",
      MINISTACK_SSL_CERT: certificate,
      MINISTACK_SSL_KEY: key,
      NODE_EXTRA_CA_CERTS: certificate,
      GATEWAY_PORT: String(port),
      BIND_HOST: "127.0.0.1",
      SFTP_ENABLED: "0",
      IOT_MTLS_ENABLED: "0",
    },
  });
  closeSync(log);
  const ended = once(child, "close");
  const kill = () => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, "SIGKILL");
  };
  // It has a process group of its own, with its functions: what ends this process does not reach it.
  process.once("exit", kill);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
  const emulator: Emulator = {
    endpoint,
    env: {
      AWS_ENDPOINT_URL: endpoint,
      AWS_ACCESS_KEY_ID: "test",
      AWS_SECRET_ACCESS_KEY: "test",
      AWS_REGION: "us-east-1",
      NODE_EXTRA_CA_CERTS: certificate,
      // The CDK CLI has an agent of its own, which reads this one.
      AWS_CA_BUNDLE: certificate,
    },
    log: () => readFileSync(logFile, "utf8").slice(-4_000),
    stop: async () => {
      kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await ready(port, () => child.exitCode);
  } catch (error) {
    await emulator.stop();
    throw new Error(`The emulator did not start:\n${emulator.log()}`, { cause: error });
  }
  return emulator;
}

/** Self-signed and its own authority, so that Node takes it for a root. */
function makeCertificate(folder: string): [certificate: string, key: string] {
  const [certificate, key] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  const made = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"];
  const names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  execFileSync("openssl", ["req", ...made, ...names, "-keyout", key, "-out", certificate], { stdio: "pipe" });
  return [certificate, key];
}

/** Waits until the port takes connections; its certificate is no concern here. */
async function ready(port: number, exitCode: () => number | null): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(100)) {
    if (exitCode() !== null) throw new Error("It ended.");
    if (await accepts(port)) return;
  }
  throw new Error("It does not listen.");
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const accepted = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return accepted;
}
