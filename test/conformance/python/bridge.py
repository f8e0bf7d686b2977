"""Speaks the conversation of the conformance program with the published Python client.

Each line of the standard input is a request: {"method", "path", "query", "body"}. The method of the client that has this
operation is called with it, against the running server; each line of the standard output is what came back:
{"status", "headers", "text"}, with "fault" where the client could not send the request or could not read the answer.
The first line tells the operations this version has.
"""

import inspect
import json
import re
import sys

import flexprice
import httpx
from flexprice import sdk

address, key = sys.argv[1:3]
answers = []


def keep(response):
    response.read()
    answers.append(response)


http = httpx.Client(event_hooks={"response": [keep]}, timeout=60, follow_redirects=True)
client = flexprice.Flexprice(api_key_auth=key, server_url=address, client=http)
control = {"retries", "server_url", "timeout_ms", "http_headers", "server_idx"}


class Unsayable(Exception):
    """The version has no argument for what the request says."""


def pattern_of(path):
    return re.compile("^" + re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(path)) + "$")


def operations():
    for area in sdk.Flexprice._sub_sdk_map:
        for name, method in inspect.getmembers(getattr(client, area), inspect.ismethod):
            source = inspect.getsource(method) if not name.startswith("_") and not name.endswith("_async") else ""
            sent = re.search(r'method="(\w+)",\s*path="([^"]+)"', source)
            called = re.search(r'operation_id="([^"]+)"', source)
            if sent and called:
                verb, path = sent.groups()
                yield {"area": area, "operation": called[1], "method": verb, "path": path, "call": method}


# Literal paths before those with parameters.
known = sorted(operations(), key=lambda each: each["path"].count("{"))
for each in known:
    each["pattern"] = pattern_of(each["path"])


def arguments(call, given):
    """The arguments of a method that flattens its request, takes it whole, or has its body under a name of its own."""
    parameters = inspect.signature(call).parameters
    names = set(parameters) - control
    if names == {"request"}:
        return {"request": given}
    flat, rest = {}, {}
    for name, value in given.items():
        candidates = [name, name + "_", name + "_path_parameter", re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()]
        fitting = [one for one in candidates if one in names]
        if not fitting:
            rest[name] = value
        elif isinstance(value, str) and re.search("Iterable|List", str(parameters[fitting[0]].annotation)):
            flat[fitting[0]] = value.split(",")
        else:
            flat[fitting[0]] = value
    holders = [name for name in ("body", "request_body", "request") if name in names and name not in flat]
    if rest and holders:
        flat[holders[0]] = rest
        rest = {}
    # Members that have one value alone and that newer versions do not have need not be said.
    required = {name for name in names if parameters[name].default is inspect.Parameter.empty}
    if set(rest) - {"addon_type", "billing_cadence", "type"} or required - set(flat):
        raise Unsayable("this version cannot say the request")
    return flat


def speak(request):
    found = next(
        (
            (each, match)
            for each in known
            if each["method"] == request["method"] and (match := each["pattern"].match(request["path"]))
        ),
        None,
    )
    if not found:
        return None, None
    each, match = found
    body = request.get("body")
    given = {**match.groupdict(), **request["query"], **(body if isinstance(body, dict) else {})}
    try:
        call = each["call"]
        call(**arguments(call, given))
        return each, None
    except Unsayable:
        return None, None
    except flexprice.models.errors.ResponseValidationError as error:
        return each, "cannot read the answer: " + str(error)
    except flexprice.models.errors.FlexpriceError:
        # The server refused, in a form the client reads: what the conversation makes of it, it says itself.
        return each, None
    except Exception as error:
        return each, f"{type(error).__name__}: {error}"


print(json.dumps([{name: each[name] for name in ("area", "operation", "method", "path")} for each in known]), flush=True)
for line in sys.stdin:
    answers.clear()
    each, fault = speak(json.loads(line))
    answer = answers[-1] if answers else None
    told = {
        "operation": each and each["operation"],
        "fault": fault,
        "status": answer.status_code if answer else 0,
        "type": answer.headers.get("content-type", "") if answer else "",
        "text": answer.text if answer else "",
    }
    print(json.dumps(told), flush=True)
