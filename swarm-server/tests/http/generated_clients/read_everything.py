"""Reads everything through a client that is generated from the whole description: every list to its end, and every other read.

Where there is a page and JSON, it reads JSON.

Arguments: the address of the server, the token of a member, and the token of an operator. Prints the number of items of
each operation as JSON.
"""

import csv
import datetime
import inspect
import io
import json
import pkgutil
import sys
from importlib import import_module

import client
import client.api

ADDRESS, MEMBER, OPERATOR = sys.argv[1:]
OPTIONS = {"raise_on_unexpected_status": True, "headers": {"Accept": "application/json, */*;q=0.5"}}
ANYONE = client.Client(ADDRESS, **OPTIONS)
AS_MEMBER = client.AuthenticatedClient(ADDRESS, MEMBER, **OPTIONS)
AS_OPERATOR = client.AuthenticatedClient(ADDRESS, OPERATOR, "", "X-Admin-Token", **OPTIONS)
# The parameters of paths: by the name of a parameter, or an id by what it identifies.
SAMPLES = {
    "date": datetime.date(2026, 11, 21),
    "subject": "aurora",
    "file": "m.json",
    "tenant": "default",
    "chapter": "takes",
}
IDS = {"subjects": "aurora", "members": "m", "apply": "m", "scores": 2}
# The parameters of a query that must name something.
QUERIES = {"get_brief": {"session": 1}, "get_oembed": {"url_query": f"{ADDRESS}/swarm/sessions/1"}}


def is_read(name, module):
    """Whether to read an operation: not one whose media type the generator does not know, so that the client has no success; not
    the events, which do not end; not the tiles, whose number has slashes; and not a log that no fixture has, nor what follows one
    that ended."""
    has_success = "response.status_code == 200" in inspect.getsource(module)
    is_of_second_log = "by_tenant_by_log" in name or name == "get_swarm_log_by_tenant_succession"
    return has_success and name != "get_events" and "tile" not in name and not is_of_second_log


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
    body = answer.parsed
    if answer.headers["content-type"].startswith("text/csv"):
        return list(csv.DictReader(io.StringIO(body))), None
    if isinstance(body, str) and answer.headers["content-type"] == "application/json":
        body = json.loads(body)
    body = body.to_dict() if hasattr(body, "to_dict") else body
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
    is_file = name.endswith("_csv")
    has_pages = "limit" in parameters and not is_file
    if has_pages:
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
        page, following = items(answer)
        found += page or []
        if not has_pages or following is None:
            return found
        annotation = str(parameters[position].annotation)
        if "datetime.datetime" in annotation:
            following = datetime.datetime.fromisoformat(following)
        elif "datetime.date" in annotation:
            following = datetime.date.fromisoformat(following)
        query[position] = following


counts = {}
for name, module in modules():
    if name.startswith("get_"):
        counts[name] = len(read(name, module)) if is_read(name, module) else None
print(json.dumps(counts))
