import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // A process for each file: the functions read their settings once per process.
    pool: "forks",
    maxWorkers: "100%",
    testTimeout: 20_000,
    hookTimeout: 30_000,
    projects: [
      {
        test: {
          name: "system",
          include: ["test/**/*.test.ts"],
          exclude: ["acceptance", "faults", "infra", "openapi", "inspector", "e2e"].map(
            (folder) => `test/${folder}/**`,
          ),
          globalSetup: "test/engines.ts",
        },
      },
      {
        test: {
          // They synthesize stacks and bundle every function. `npm run test:infra`.
          name: "infra",
          include: ["test/infra/**/*.test.ts"],
        },
      },
      {
        test: {
          // Installs a linter and a client generator into `.cache` the first time. `npm run test:openapi`.
          name: "openapi",
          include: ["test/openapi/*.test.ts"],
          globalSetup: "test/engines.ts",
          testTimeout: 120_000,
        },
      },
      {
        test: {
          // Slow: they kill, hang and overload the system. `npm run test:faults`.
          name: "faults",
          include: ["test/faults/**/*.test.ts"],
          globalSetup: "test/engines.ts",
        },
      },
      {
        test: {
          name: "acceptance",
          include: ["test/acceptance/**/*.test.ts"],
          globalSetup: "test/acceptance/target.ts",
        },
      },
      {
        test: {
          // What operators do with a deployed stage. `npm run e2e`.
          name: "operators",
          include: ["test/e2e/**/*.test.ts"],
          globalSetup: "test/acceptance/target.ts",
        },
      },
      {
        test: {
          // A large program, which is installed first. `npm run test:inspector`.
          name: "inspector",
          include: ["test/inspector/**/*.test.ts"],
          globalSetup: ["test/acceptance/target.ts", "test/inspector/install.ts"],
        },
      },
    ],
  },
});
