"""Starts ministack with one thing put right: its IAM knows an action sqs:SendMessageBatch, which AWS does not have.

"To send messages in a batch, a principal needs permission for SendMessage" (SQS API permissions reference).
"""

from ministack.core import iam_actions

_extract = iam_actions.extract_iam_action


def _extract_as_aws_does(*args, **kwargs):
    action = _extract(*args, **kwargs)
    return "sqs:SendMessage" if action == "sqs:SendMessageBatch" else action


iam_actions.extract_iam_action = _extract_as_aws_does

from ministack.app import main  # noqa: E402 (imports the function that was just replaced)

main()
