"""Claude on Amazon Bedrock: Anthropic's SDK with requests signed by AWS. In a file of its own: it is long to load."""

import anthropic
import httpx2
from anthropic import AsyncAnthropicBedrock

from bot.errors import ConfigError, ModelUnavailable


class _SignedClient(AsyncAnthropicBedrock):
    async def _prepare_request(self, request: httpx2.Request) -> None:
        """Sign it. What boto3 raises when it finds no credentials, or none that are still good, has no common base."""
        try:
            await super()._prepare_request(request)
        except Exception as fault:
            raise ModelUnavailable(f"the request can not be signed: {type(fault).__name__}") from fault


def bedrock_client(region: str, base_url: str, timeout: anthropic.Timeout) -> AsyncAnthropicBedrock:
    """A client that signs each request with the credentials boto3 finds, on Lambda those of the function's role.

    ``region`` "" is that of the environment or of the AWS profile; ``base_url`` "" is AWS's own address there. Raises
    ConfigError where there is no region.
    """
    try:
        return _SignedClient(
            aws_region=region or None,
            base_url=base_url or None,
            timeout=timeout,
            max_retries=0,
            open_telemetry=False,
        )
    except ValueError as fault:
        raise ConfigError("Set AWS_REGION to the region whose Bedrock is to be used, such as eu-central-1.") from fault
