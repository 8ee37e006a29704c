"""Reads everything through a generated client: every list to its end, and every other read.

Arguments: the address of the server, the token of a member, and the token of an operator. Prints the number of items of
each operation as JSON.
"""

import datetime
import inspect
import json
import pkgutil
import sys
from importlib import import_module

import client
import client.api

ADDRESS, MEMBER, OPERATOR = sys.argv[1:]
ANYONE = client.Client(ADDRESS, raise_on_unexpected_status=True)
AS_MEMBER = client.AuthenticatedClient(ADDRESS, MEMBER, raise_on_unexpected_status=True)
AS_OPERATOR = client.AuthenticatedClient(
    ADDRESS, OPERATOR, "", "X-Admin-Token", raise_on_unexpected_status=True
)
# The parameters of paths: by the name of a parameter, or an id by what it identifies.
SAMPLES = {
    "date": datetime.date(2026, 11, 21),
    "subject": "aurora",
    "file": "m.json",
    "tenant": "default",
}
IDS = {"subjects": "aurora", "members": "m", "apply": "m", "scores": 2}
# The parameters of a query that must name something.
QUERIES = {"get_brief": {"session": 1}, "get_oembed": {"url": f"{ADDRESS}/swarm/sessions/1"}}


def is_read(name):
    """Whether to read an operation: not the tiles, whose number has slashes, not a log that no fixture has nor what follows one
    that ended, not the metrics, whose media type the generator does not know, and not the events, which do not end."""
    unread = ("get_metrics", "get_events", "get_swarm_log_by_tenant_succession")
    return "tile" not in name and "by_tenant_by_log" not in name and name not in unread


def modules():
    """The module of each operation, by its name: the `operationId` in snake case."""
    for tag in pkgutil.iter_modules(client.api.__path__):
        package = import_module(f"client.api.{tag.name}")
        for operation in pkgutil.iter_modules(package.__path__):
            yield operation.name, import_module(f"client.api.{tag.name}.{operation.name}")


def caller(name, module):
    """The client for an operation: with a credential if its signature demands one."""
    wanted = str(inspect.signature(module.sync_detailed).parameters["client"].annotation)
    if "| Client" in wanted or "client.Client" in wanted:
        return ANYONE
    return AS_OPERATOR if "admin" in name else AS_MEMBER


def path_parameters(name, module):
    """Values for the parameters of a path."""
    values = {}
    for parameter in inspect.signature(module.sync_detailed).parameters.values():
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            its_id = next((sample for part, sample in IDS.items() if part in name), 1)
            values[parameter.name] = SAMPLES.get(parameter.name, its_id)
    return values


def items(answer):
    """The items of the list in an answer, if it has one, and the position of the next page."""
    body = answer.to_dict() if hasattr(answer, "to_dict") else answer
    if not isinstance(body, dict):
        return None, None
    lists = [value for value in body.values() if isinstance(value, list)]
    following = [body.get(name) for name in ("nextBefore", "nextAfter")]
    if body.get("more"):
        following.append(body["next"])
    return (lists[0] if lists else None), next((it for it in following if it), None)


def read(name, module):
    """All items of an operation; one item a page where it has pages."""
    parameters = inspect.signature(module.sync_detailed).parameters
    query = dict(QUERIES.get(name, {}))
    if "limit" in parameters:
        query["limit"] = 1
    position = next((it for it in ("before", "after") if it in parameters), None)
    found = []
    while True:
        arguments = path_parameters(name, module) | query
        answer = module.sync_detailed(client=caller(name, module), **arguments)
        assert answer.status_code == 200, (name, answer)
        is_json = answer.headers["content-type"] == "application/json"
        is_parsed = answer.parsed is not None or answer.content == b"null"
        assert is_parsed or not is_json, (name, answer)
        page, following = items(answer.parsed)
        found += page or []
        if "limit" not in parameters or following is None:
            return found
        is_time = "datetime" in str(parameters[position].annotation)
        query[position] = datetime.datetime.fromisoformat(following) if is_time else following


counts = {}
for name, module in modules():
    if name.startswith("get_"):
        counts[name] = len(read(name, module)) if is_read(name) else None
print(json.dumps(counts))
