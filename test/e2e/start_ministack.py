"""Starts ministack with four things put right, of which it knows less than AWS does."""

from ministack.core import iam_actions
from ministack.services import apigateway, lambda_svc
from ministack.services.cloudformation import provisioners

_extract_iam_action = iam_actions.extract_iam_action
_sqs_esm_concurrency = lambda_svc._sqs_esm_concurrency
_cw_metric_alarm_record = provisioners._cw_metric_alarm_record


def _as_iam_has_it(*args, **kwargs):
    """There is no action sqs:SendMessageBatch: SendMessage allows both (SQS API permissions reference)."""
    action = _extract_iam_action(*args, **kwargs)
    return "sqs:SendMessage" if action == "sqs:SendMessageBatch" else action


def _groups_in_parallel(esm, func_rec, config, queue=None):
    """It works a FIFO queue off serially, since its batches span groups. A batch of one message spans none, and the
    queue itself holds back a group of which a message is in flight."""
    return _sqs_esm_concurrency(esm, func_rec, config, None if esm.get("BatchSize") == 1 else queue)


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
provisioners._cw_metric_alarm_record = _as_one_metric
apigateway._cors_response_headers = _spelt_as_api(apigateway._cors_response_headers)
apigateway._cors_preflight_response = _spelt_as_api(apigateway._cors_preflight_response)
lambda_svc._sqs_esm_concurrency = _groups_in_parallel

from ministack.app import main  # noqa: E402 (it imports the functions that were just replaced)

main()
