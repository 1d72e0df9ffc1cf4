import type { AwsService } from "./aws_endpoint.ts";

/** A notice to the operators, as their topic gets it. */
export interface TopicNotice {
  subject: string;
  message: string;
}

/** The one topic of a local system. */
export const approvalsTopicArn = "arn:aws:sns:us-east-1:000000000000:switchboard-local-approvals";

/** SNS's Publish (AWS Query protocol): whoever started the system is the topic's only subscriber. */
export function sns(deliver: (notice: TopicNotice) => void): AwsService {
  return ({ method, target, body }) => {
    const form = new URLSearchParams(body);
    if (method !== "POST" || target !== "" || form.get("Action") !== "Publish") return undefined;
    deliver({ subject: form.get("Subject") ?? "", message: form.get("Message") ?? "" });
    const id = "<MessageId>00000000-0000-0000-0000-000000000000</MessageId>";
    return {
      headers: { "content-type": "text/xml" },
      body: `<PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult>${id}</PublishResult></PublishResponse>`,
    };
  };
}
