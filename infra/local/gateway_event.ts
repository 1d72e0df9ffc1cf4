import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { localAccount } from "./client_config.ts";

/** The path of a request as API Gateway routes it and reports it: percent-decoded, without the query. */
export function pathOf(request: IncomingMessage): string {
  const raw = split(request)[0];
  try {
    return decodeURIComponent(raw);
  } catch {
    return raw;
  }
}

const split = ({ url = "/" }: IncomingMessage): [path: string, query: string] => {
  const at = url.indexOf("?");
  return at < 0 ? [url, ""] : [url.slice(0, at), url.slice(at + 1)];
};

/**
 * What an HTTP API hands to a Lambda function for a request (payload format 2.0).
 * @param routeKey the route that matched, `$default` for the one that takes the rest
 */
export function gatewayEvent(request: IncomingMessage, body: Buffer, routeKey: string): APIGatewayProxyEventV2 {
  const [rawQueryString, path, headers] = [split(request)[1], pathOf(request), headersOf(request, body.length)];
  const cookies = (request.headers.cookie ?? "").split(";").flatMap((cookie) => cookie.trim() || []);
  const query = joined(new URLSearchParams(rawQueryString));
  const now = new Date();
  const domainName = (headers.host ?? "localhost").replace(/:\d+$/, "");
  return {
    version: "2.0",
    routeKey,
    rawPath: path,
    rawQueryString,
    ...(cookies.length > 0 && { cookies }),
    headers,
    ...(rawQueryString !== "" && { queryStringParameters: query }),
    requestContext: {
      accountId: localAccount,
      apiId: "local",
      domainName,
      domainPrefix: domainName.replace(/\..*/, ""),
      http: {
        method: request.method ?? "GET",
        path,
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp: request.socket.remoteAddress ?? "127.0.0.1",
        userAgent: headers["user-agent"] ?? "",
      },
      requestId: `${randomBytes(11).toString("base64url")}=`,
      routeKey,
      stage: "$default",
      time: commonLogTime(now),
      timeEpoch: now.getTime(),
    },
    ...bodyOf(body, headers["content-type"]),
  };
}

/** Meant for one connection only, so not passed on; cookies have a field of their own. */
const notPassedOn = new Set(["connection", "keep-alive", "transfer-encoding", "upgrade", "expect", "cookie"]);

function headersOf(request: IncomingMessage, bodyBytes: number): Record<string, string> {
  const sent = Object.entries(request.headersDistinct)
    .filter(([name]) => !notPassedOn.has(name))
    .map(([name, values = []]) => [name, values.join(",")]);
  return {
    ...Object.fromEntries(sent),
    "content-length": String(bodyBytes),
    "x-forwarded-for": request.socket.remoteAddress ?? "127.0.0.1",
    "x-forwarded-port": String(request.socket.localPort ?? ""),
    "x-forwarded-proto": "http",
  };
}

/** Repeated parameters are joined with commas. */
function joined(parameters: URLSearchParams): Record<string, string> {
  return Object.fromEntries([...new Set(parameters.keys())].map((name) => [name, parameters.getAll(name).join(",")]));
}

/** Everything else is handed over in base64: also a form, curl's default, and a body without a content type. */
const textTypes = /^(text\/.+|application\/(json|javascript|xml|.+\+json|.+\+xml))$/;

function bodyOf(body: Buffer, contentType = ""): Pick<APIGatewayProxyEventV2, "body" | "isBase64Encoded"> {
  if (body.length === 0) return { isBase64Encoded: false };
  const isText = textTypes.test(contentType.replace(/;.*/, "").trim().toLowerCase());
  return { body: body.toString(isText ? "utf8" : "base64"), isBase64Encoded: !isText };
}

/** `12/Mar/2020:19:03:58 +0000` */
function commonLogTime(date: Date): string {
  const [, day, month, year, time] = date.toUTCString().split(/,? /);
  return `${day}/${month}/${year}:${time} +0000`;
}
