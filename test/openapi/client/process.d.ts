/** All that the program needs of Node. */
declare const process: { env: Record<string, string | undefined> };
