"""Starts ministack with six things put right, of which it knows less than AWS does."""

import json
import time

from ministack.core import iam_actions
from ministack.services import apigateway, eventbridge, lambda_svc
from ministack.services.cloudformation import provisioners

_extract_iam_action = iam_actions.extract_iam_action
_extract_resource_arn = iam_actions.extract_resource_arn
_sqs_esm_concurrency = lambda_svc._sqs_esm_concurrency
_invoke_target = eventbridge._invoke_target
_cw_metric_alarm_record = provisioners._cw_metric_alarm_record


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


def _as_one_metric(name, props):
    """It has no alarms on metric math: one watches the first of its metrics. No test waits for an alarm."""
    stats = [each["MetricStat"] for each in props.get("Metrics", []) if "MetricStat" in each]
    if stats:
        props = {key: value for key, value in props.items() if key != "Metrics"} | stats[0]["Metric"]
    return _cw_metric_alarm_record(name, props)


def _spelt_as_api(answer):
    """CloudFormation's CorsConfiguration has its names with a capital; it reads them as its own API spells them."""
    return lambda cors, origin: answer({name[0].lower() + name[1:]: value for name, value in cors.items()}, origin)


iam_actions.extract_iam_action = _as_iam_has_it
iam_actions.extract_resource_arn = _in_its_group
eventbridge._invoke_target = _with_its_time
provisioners._cw_metric_alarm_record = _as_one_metric
apigateway._cors_response_headers = _spelt_as_api(apigateway._cors_response_headers)
apigateway._cors_preflight_response = _spelt_as_api(apigateway._cors_preflight_response)
lambda_svc._sqs_esm_concurrency = _groups_in_parallel

from ministack.app import main  # noqa: E402 (it imports the functions that were just replaced)

main()
