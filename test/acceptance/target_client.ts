import { inject } from "vitest";
import { type ToolClient, toolClient } from "../tool_client.ts";

/** What acceptance tests know of the system: its address and a key, as any platform does. */
export const target = { url: inject("url"), key: inject("key") };

export const tool: ToolClient = toolClient(target.url, target.key);
