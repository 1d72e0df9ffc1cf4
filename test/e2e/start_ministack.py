"""Starts ministack with four things put right, of which it knows less than AWS does."""

import json
import time

from ministack.core import iam_actions
from ministack.services import eventbridge, lambda_svc

_extract_iam_action = iam_actions.extract_iam_action
_extract_resource_arn = iam_actions.extract_resource_arn
_sqs_esm_concurrency = lambda_svc._sqs_esm_concurrency
_invoke_target = eventbridge._invoke_target


def _as_iam_has_it(*args, **kwargs):
    """There is no action sqs:SendMessageBatch: SendMessage allows both (SQS API permissions reference)."""
    action = _extract_iam_action(*args, **kwargs)
    return "sqs:SendMessage" if action == "sqs:SendMessageBatch" else action


def _groups_in_parallel(esm, func_rec, config, queue=None):
    """It works a FIFO queue off serially, since its batches span groups. A batch of one message spans none, and the
    queue itself holds back a group of which a message is in flight."""
    return _sqs_esm_concurrency(esm, func_rec, config, None if esm.get("BatchSize") == 1 else queue)


def _in_its_group(service, method, path, headers, body, query_params, *args, **kwargs):
    """It takes every schedule for one of the default group."""
    arn = _extract_resource_arn(service, method, path, headers, body, query_params, *args, **kwargs)
    if service != "scheduler" or ":schedule/default/" not in arn:
        return arn
    asked = query_params.get("groupName") or [json.loads(body or b"{}").get("GroupName", "default")]
    group = asked[0] if isinstance(asked, list) else asked
    return arn.replace(":schedule/default/", f":schedule/{group}/")


def _with_its_time(target, event, *args, **kwargs):
    """It hands a schedule's input over as it is, with the names of context attributes in it (Scheduler, User Guide)."""
    if event.get("Source") == "aws.scheduler" and target.get("Input"):
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(event["Time"]))
        target = {**target, "Input": target["Input"].replace("<aws.scheduler.scheduled-time>", at)}
    return _invoke_target(target, event, *args, **kwargs)


iam_actions.extract_iam_action = _as_iam_has_it
iam_actions.extract_resource_arn = _in_its_group
eventbridge._invoke_target = _with_its_time
lambda_svc._sqs_esm_concurrency = _groups_in_parallel

from ministack.app import main  # noqa: E402 (it imports the functions that were just replaced)

main()
