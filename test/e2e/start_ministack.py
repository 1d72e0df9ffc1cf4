"""Starts ministack with two things put right, of which it knows less than AWS does."""

from ministack.core import iam_actions
from ministack.services import lambda_svc

_extract_iam_action = iam_actions.extract_iam_action
_sqs_esm_concurrency = lambda_svc._sqs_esm_concurrency


def _as_iam_has_it(*args, **kwargs):
    """There is no action sqs:SendMessageBatch: SendMessage allows both (SQS API permissions reference)."""
    action = _extract_iam_action(*args, **kwargs)
    return "sqs:SendMessage" if action == "sqs:SendMessageBatch" else action


def _groups_in_parallel(esm, func_rec, config, queue=None):
    """It works a FIFO queue off serially, since its batches span groups. A batch of one message spans none, and the
    queue itself holds back a group of which a message is in flight."""
    return _sqs_esm_concurrency(esm, func_rec, config, None if esm.get("BatchSize") == 1 else queue)


iam_actions.extract_iam_action = _as_iam_has_it
lambda_svc._sqs_esm_concurrency = _groups_in_parallel

from ministack.app import main  # noqa: E402 (it imports the functions that were just replaced)

main()
