import { CfnOutput, Duration, Validations } from "aws-cdk-lib";
import { AccessLogFormat } from "aws-cdk-lib/aws-apigateway";
import {
  type CfnStage,
  CorsHttpMethod,
  HttpApi,
  type HttpMethod,
  HttpRoute,
  HttpRouteKey,
  HttpStage,
  LogGroupLogDestination,
} from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { Context } from "../context.ts";
import { logGroupName, outputs, prefixOf } from "../names.ts";
import { removalPolicyOf } from "./switchboard_function.ts";

interface ToolApiProps {
  context: Context;
  /** By tool name. */
  tools: ReadonlyMap<string, IFunction>;
  /** Answers the catalog's routes and every unknown one, so that also a 404 has our shape. */
  catalog: IFunction;
  mcp: IFunction;
}

const catalogRoutes = [
  "GET /v1/tools",
  "GET /v1/tools/{tool}",
  "GET /openapi.json",
  "GET /docs",
  "GET /healthz",
  "$default",
];

/** What a request is known by, and nothing that it carries: no headers, no query, no body. */
const accessLogFormat = AccessLogFormat.custom(
  JSON.stringify({
    requestId: "$context.requestId",
    at: "$context.requestTimeEpoch",
    ip: "$context.identity.sourceIp",
    route: "$context.routeKey",
    status: "$context.status",
    latencyMs: "$context.responseLatency",
    bytes: "$context.responseLength",
    error: "$context.error.message",
    integrationError: "$context.integrationErrorMessage",
  }),
);

/**
 * The HTTP API: one route and integration per tool, throttled on its own, so that a flood at one tool leaves
 * the others their share. API Gateway may call each function for its own route and nothing else.
 */
export class ToolApi extends Construct {
  readonly api: HttpApi;

  constructor(scope: Construct, id: string, { context, tools, catalog, mcp }: ToolApiProps) {
    super(scope, id);
    this.api = new HttpApi(this, "Http", {
      apiName: prefixOf(context.stage),
      createDefaultStage: false,
      ...(context.corsOrigins.length > 0 && { corsPreflight: corsOf(context.corsOrigins) }),
    });
    const handlers = new Map<string, IFunction>([
      ...[...tools].map(([name, handler]) => [`POST /v1/tools/${name}`, handler] as const),
      ["POST /mcp", mcp],
      ...catalogRoutes.map((key) => [key, catalog] as const),
    ]);
    this.#stage(
      context,
      [...handlers.keys()],
      [...handlers].map(([key, handler]) => this.#route(key, handler)),
    );
    new CfnOutput(this, "Url", { value: this.api.apiEndpoint }).overrideLogicalId(outputs.apiUrl);
  }

  #route(key: string, handler: IFunction): HttpRoute {
    const [method, path] = key.split(" ");
    const route = new HttpRoute(this, key, {
      httpApi: this.api,
      routeKey: path === undefined ? HttpRouteKey.DEFAULT : HttpRouteKey.with(path, method as HttpMethod),
      integration: new HttpLambdaIntegration("Integration", handler),
    });
    Validations.of(route).acknowledge({
      id: "AwsSolutions-APIG4",
      reason:
        "serve() authenticates each request by a strongly consistent read: a revoked key stops at once, and a 401 keeps the tool's shape (design, section 3).",
    });
    return route;
  }

  #stage(context: Context, keys: readonly string[], routes: readonly HttpRoute[]): void {
    const { ratePerSecond: throttlingRateLimit, burst: throttlingBurstLimit } = context.throttle;
    const log = new LogGroup(this, "AccessLog", {
      logGroupName: logGroupName(context.stage, "access"),
      retention: context.logRetentionDays,
      removalPolicy: removalPolicyOf(context),
    });
    const stage = new HttpStage(this, "Stage", {
      httpApi: this.api,
      stageName: "$default",
      autoDeploy: true,
      accessLogSettings: { destination: new LogGroupLogDestination(log), format: accessLogFormat },
    });
    // A stage refuses settings of routes that don't exist yet.
    stage.node.addDependency(...routes);
    (stage.node.defaultChild as CfnStage).routeSettings = Object.fromEntries(
      // The setting's own names are passed through as they are, so CloudFormation's spelling is needed.
      keys.map((key) => [
        key,
        { ThrottlingRateLimit: throttlingRateLimit, ThrottlingBurstLimit: throttlingBurstLimit },
      ]),
    );
  }
}

/** Which an MCP client sends from a page, beside the others. */
const mcpHeaders = ["mcp-protocol-version", "mcp-method", "mcp-name"];

function corsOf(allowOrigins: string[]) {
  return {
    allowOrigins,
    allowMethods: [CorsHttpMethod.GET, CorsHttpMethod.POST],
    allowHeaders: ["authorization", "content-type", "idempotency-key", "prefer", ...mcpHeaders],
    exposeHeaders: ["x-request-id", "preference-applied", "retry-after", "www-authenticate"],
    maxAge: Duration.hours(1),
  };
}
