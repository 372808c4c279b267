"""Pipelines for MongoDB that must be refused, and some that must not: the tables that several tests go through.

The numbers are those of the attack table that the guard was built against.
"""

from __future__ import annotations

from typing import Any

import pytest
from clitool_tools.database.mongodb.screening import MAX_DEPTH, MAX_PIPELINES, MAX_SIZE, MAX_STAGES

ID = "0123456789abcdef01234567"

JS: dict[str, Any] = {"$function": {"body": "function() { return 1 }", "args": [], "lang": "js"}}


def lookup(**more: Any) -> dict[str, Any]:
    return {"$lookup": {"localField": "a", "foreignField": "b", "as": "s", **more}}


def graph(**more: Any) -> dict[str, Any]:
    fields = {"startWith": "$a", "connectFromField": "a", "connectToField": "b", "as": "s"}
    return {"$graphLookup": {**fields, **more}}


def project(value: Any) -> list[Any]:
    return [{"$project": {"x": value}}]


def match(test: Any) -> list[Any]:
    return [{"$match": test}]


JAVASCRIPT = [
    pytest.param(match({"$where": "sleep(5000)||true"}), id="1 $where"),
    pytest.param(match({"$where": {"$code": "sleep(5000)"}}), id="2 $where with $code"),
    pytest.param(match({"a": {"$code": "1"}}), id="2 $code as a value"),
    pytest.param(match({"a": {"$code": "1", "$scope": {}}}), id="2 $code with scope"),
    pytest.param(match({"a": {"$eq": {"$code": "1"}}}), id="2 $code under $eq"),
    pytest.param(match({"a": {"$in": [1, {"b": [{"$code": "1"}]}]}}), id="2 $code in a list"),
    pytest.param(match({"$and": [{"a": 1}, {"$or": [{"$where": "1"}]}]}), id="3 nested $where"),
    pytest.param(match({"$nor": [{"$where": "1"}]}), id="3 $nor"),
    pytest.param(match({"a": {"$elemMatch": {"$where": "1"}}}), id="3 $elemMatch"),
    pytest.param(match({"a": {"$elemMatch": {"b": 1, "$or": [{"$where": "1"}]}}}), id="3 $or in $elemMatch"),
    pytest.param(match({"a": {"$not": {"$where": "1"}}}), id="3 $not"),
    pytest.param(match({"a": {"$all": [{"$elemMatch": {"$where": "1"}}]}}), id="3 $elemMatch in $all"),
    pytest.param(match({"a": {"$all": [{"$literal": {"$elemMatch": {"$where": "1"}}}]}}), id="3 $literal in $all"),
    pytest.param(match({"a": {"$where": "1"}}), id="3 below a field"),
    pytest.param(match({"a": {"b": {"$where": "1"}}}), id="3 in a document"),
    pytest.param(match({"a": {"b": 1, "$where": "1"}}), id="3 beside a field"),
    pytest.param(match({"$literal": {"$where": "1"}}), id="3 $literal where a filter stands"),
    pytest.param(match({"$expr": JS}), id="4 $function in $expr"),
    pytest.param(match({"$expr": {"$and": [True, {"$eq": [1, JS]}]}}), id="4 deeper in $expr"),
    pytest.param(match({"$or": [{"$expr": JS}]}), id="4 $expr in $or"),
    pytest.param([{"$group": {"_id": 1, "x": {"$accumulator": {"init": "function() {}"}}}}], id="5 $accumulator"),
    pytest.param([{"$group": {"_id": JS}}], id="5 $function as group"),
    pytest.param([{"$group": {"_id": 1, "x": {"$sum": JS}}}], id="5 $function in an accumulator"),
    pytest.param([{"$bucket": {"groupBy": "$a", "boundaries": [1, 2], "output": {"x": {"$sum": JS}}}}], id="5 bucket"),
    pytest.param([{"$bucketAuto": {"groupBy": JS, "buckets": 2}}], id="5 bucketAuto"),
    pytest.param([{"$setWindowFields": {"output": {"x": {"$sum": JS, "window": {}}}}}], id="5 window"),
    pytest.param([{"$setWindowFields": {"output": {"x": {"$accumulator": {}, "window": {}}}}}], id="5 window $acc"),
    pytest.param(project(JS), id="6 projection"),
    pytest.param(project({"$cond": [True, {"a": [JS]}, 1]}), id="6 deeper"),
    pytest.param(project({"y": JS}), id="6 in a nested projection"),
    pytest.param(project({"$let": {"vars": {"v": JS}, "in": 1}}), id="6 $let"),
    pytest.param(project({"$switch": {"branches": [{"case": JS, "then": 1}]}}), id="6 $switch"),
    pytest.param(project({"$map": {"input": "$a", "in": JS}}), id="6 $map"),
    pytest.param(project({"$literal": 1, **JS}), id="6 beside $literal"),
    pytest.param(project({"$accumulator": {}}), id="6 $accumulator in an expression"),
    pytest.param([{"$set": {"x": JS}}], id="7 $set"),
    pytest.param([{"$addFields": {"x": {"y": JS}}}], id="7 $addFields"),
    pytest.param([{"$replaceWith": JS}], id="7 $replaceWith"),
    pytest.param([{"$replaceRoot": {"newRoot": JS}}], id="7 $replaceRoot"),
    pytest.param([{"$redact": JS}], id="7 $redact"),
    pytest.param([{"$sortByCount": JS}], id="7 $sortByCount"),
    pytest.param([{"mapReduce": "orders", "map": "function() {}"}], id="8 mapReduce"),
    pytest.param([{"$mapReduce": {}}], id="8 $mapReduce"),
    pytest.param([lookup(**{"from": "orders", "let": {"v": JS}})], id="18 $lookup.let"),
    pytest.param([lookup(**{"from": "orders", "pipeline": match({"$where": "1"})})], id="18 $lookup.pipeline"),
    pytest.param([graph(**{"from": "orders", "startWith": JS})], id="18 $graphLookup.startWith"),
    pytest.param(
        [graph(**{"from": "orders", "restrictSearchWithMatch": {"$where": "1"}})], id="18 $graphLookup filter"
    ),
    pytest.param([{"$unionWith": {"coll": "orders", "pipeline": project(JS)}}], id="18 $unionWith.pipeline"),
    pytest.param([{"$unionWith": {"pipeline": [{"$documents": [{"a": JS}]}]}}], id="18 $documents"),
    pytest.param([{"$facet": {"f": match({"$where": "1"})}}], id="18 $facet"),
    pytest.param([{"$fill": {"output": {"x": {"value": JS}}}}], id="$fill"),
    pytest.param([{"$geoNear": {"near": [1, 2], "query": {"$where": "1"}}}], id="$geoNear.query"),
    pytest.param([{"$geoNear": {"near": JS}}], id="$geoNear.near"),
    pytest.param([{"$sort": {"a": JS}}], id="$sort"),
]

SECRETS = [
    pytest.param([lookup(**{"from": "secret"})], id="13 $lookup"),
    pytest.param([lookup(**{"from": {"db": "shop", "coll": "secret"}})], id="14 $lookup object"),
    pytest.param([lookup(**{"from": {"coll": "secret"}})], id="14 $lookup object without db"),
    pytest.param([{"$lookup": {"from": "secret", "pipeline": [], "as": "s"}}], id="13 $lookup with pipeline"),
    pytest.param(
        [{"$lookup": {"pipeline": [{"$documents": []}, lookup(**{"from": "secret"})], "as": "s"}}],
        id="15 after $documents",
    ),
    pytest.param([lookup(**{"from": "orders", "pipeline": [lookup(**{"from": "secret"})]})], id="15 nested $lookup"),
    pytest.param([{"$unionWith": "secret"}], id="16 $unionWith"),
    pytest.param([{"$unionWith": {"coll": "secret"}}], id="16 $unionWith object"),
    pytest.param([{"$unionWith": {"coll": "secret", "pipeline": []}}], id="16 with pipeline"),
    pytest.param([{"$unionWith": {"db": "shop", "coll": "secret"}}], id="16 with db"),
    pytest.param([{"$unionWith": {"coll": "orders", "pipeline": [{"$unionWith": "secret"}]}}], id="16 nested"),
    pytest.param([graph(**{"from": "secret"})], id="17 $graphLookup"),
    pytest.param([graph(**{"from": {"db": "shop", "coll": "secret"}})], id="17 object"),
    pytest.param([{"$facet": {"f": [lookup(**{"from": "secret"})]}}], id="18 $lookup in $facet"),
    pytest.param([{"$facet": {"f": [{"$unionWith": "secret"}]}}], id="18 $unionWith in $facet"),
    pytest.param([{"$facet": {"a": [], "b": [{"$limit": 1}, graph(**{"from": "secret"})]}}], id="18 second facet"),
    pytest.param(
        [lookup(**{"from": "orders", "pipeline": [{"$facet": {"f": [{"$unionWith": "secret"}]}}]})],
        id="18 $facet in $lookup",
    ),
    pytest.param(
        [{"$unionWith": {"coll": "orders", "pipeline": [lookup(**{"from": "secret"})]}}], id="18 $lookup in $unionWith"
    ),
    pytest.param(
        [{"$unionWith": {"pipeline": [{"$documents": []}, graph(**{"from": "secret"})]}}], id="18 after $documents"
    ),
    pytest.param([{"$match": {}}, {"$limit": 5}, {"$unionWith": "secret"}], id="as a later stage"),
    pytest.param([lookup(**{"from": "Orders"})], id="other case"),
    pytest.param([lookup(**{"from": "orders "})], id="a blank behind"),
    pytest.param([lookup(**{"from": "shop.orders"})], id="with the database before it"),
    pytest.param([lookup(**{"from": "\uff4frders"})], id="a look-alike letter"),
    pytest.param([lookup(**{"from": "orders.chunks"})], id="a name that begins like an allowed one"),
    pytest.param([{"$unionWith": "system.users"}], id="22 system.users"),
    pytest.param([{"$unionWith": "system.views"}], id="22 system.views"),
    pytest.param([{"$unionWith": "system.profile"}], id="22 system.profile"),
    pytest.param([{"$unionWith": "system.js"}], id="22 system.js"),
    pytest.param([{"$unionWith": "system.buckets.orders"}], id="22 system.buckets"),
    pytest.param([{"$unionWith": "oplog.$main"}], id="22 oplog.$main"),
    pytest.param([{"$unionWith": "oplog.rs"}], id="22 oplog.rs"),
    pytest.param([{"$unionWith": "$cmd"}], id="22 $cmd"),
    pytest.param([{"$unionWith": "$cmd.aggregate"}], id="22 $cmd.aggregate"),
    pytest.param([{"$unionWith": "x" * 300}], id="22 300 characters"),
]

OTHER_DATABASES = [
    pytest.param([lookup(**{"from": {"db": database, "coll": "orders"}})], id=f"$lookup {database}")
    for database in ("admin", "config", "local", "$external", "other", "Shop", "shop ", "")
] + [
    pytest.param([{"$unionWith": {"db": "admin", "coll": "orders"}}], id="$unionWith"),
    pytest.param([graph(**{"from": {"db": "admin", "coll": "orders"}})], id="$graphLookup"),
    pytest.param([lookup(**{"from": {"db": "admin", "coll": "system.users"}})], id="14 admin.system.users"),
]

NAMELESS = [
    pytest.param([{"$lookup": {"as": "s", "localField": "a", "foreignField": "b"}}], id="no pipeline"),
    pytest.param([{"$lookup": {"as": "s", "pipeline": []}}], id="empty pipeline"),
    pytest.param([{"$lookup": {"as": "s", "pipeline": match({})}}], id="another stage first"),
    pytest.param([{"$lookup": {"as": "s", "pipeline": [{"$limit": 1}, {"$documents": []}]}}], id="second stage"),
    pytest.param([{"$lookup": {"as": "s", "pipeline": {"$documents": []}}}], id="pipeline is an object"),
    pytest.param([{"$lookup": {"as": "s", "pipeline": [["$documents"]]}}], id="a list as stage"),
    pytest.param([{"$unionWith": {"pipeline": []}}], id="$unionWith without name"),
    pytest.param([{"$unionWith": {"pipeline": match({})}}], id="$unionWith, another stage"),
    pytest.param([{"$unionWith": {}}], id="$unionWith of nothing"),
    pytest.param([{"$documents": [{"a": 1}]}], id="$documents instead of the table"),
]

STAGES_REFUSED = [
    pytest.param([{"$out": "orders"}], "database_insert", id="9 $out"),
    pytest.param([{"$out": {"db": "other", "coll": "x"}}], "database_insert", id="10 $out object"),
    pytest.param([{"$out": {"db": "shop", "coll": "orders", "timeseries": {}}}], "database_insert", id="10 timeseries"),
    pytest.param([{"$merge": {"into": "orders"}}], "database_upsert", id="11 $merge"),
    pytest.param([{"$merge": {"into": {"db": "o", "coll": "c"}}}], "database_upsert", id="11 $merge object"),
    pytest.param([{"$merge": "orders"}], "database_upsert", id="11 $merge string"),
    pytest.param([{"$facet": {"f": [{"$out": "orders"}]}}], "$out", id="12 $out in $facet"),
    pytest.param([lookup(**{"from": "orders", "pipeline": [{"$merge": "orders"}]})], "$merge", id="12 in $lookup"),
    pytest.param([{"$unionWith": {"coll": "orders", "pipeline": [{"$out": "x"}]}}], "$out", id="12 in $unionWith"),
    pytest.param([{"$match": {}}, {"$out": "x"}, {"$limit": 1}], "$out", id="9 in the middle"),
    pytest.param([{"$changeStream": {}}], "never ends", id="19 $changeStream"),
    pytest.param([{"$changeStreamSplitLargeEvent": {}}], "not allowed", id="19 of 7.0"),
    pytest.param([{"$currentOp": {"allUsers": True}}], "other clients", id="20 $currentOp"),
    pytest.param([{"$listSessions": {}}], "other clients", id="20 $listSessions"),
    pytest.param([{"$listLocalSessions": {}}], "other clients", id="20 $listLocalSessions"),
    pytest.param([{"$collStats": {"storageStats": {}}}], "database_describe", id="20 $collStats"),
    pytest.param([{"$indexStats": {}}], "database_describe", id="20 $indexStats"),
    pytest.param([{"$planCacheStats": {}}], "own state", id="20 $planCacheStats"),
    pytest.param([{"$listSampledQueries": {}}], "other clients", id="20 $listSampledQueries"),
    pytest.param([{"$shardedDataDistribution": {}}], "own state", id="20 $shardedDataDistribution"),
    pytest.param([{"$queryStats": {}}], "other clients", id="$queryStats"),
    pytest.param([{"$listCatalog": {}}], "own state", id="$listCatalog"),
    pytest.param([{"$listClusterCatalog": {}}], "not allowed", id="$listClusterCatalog"),
    pytest.param([{"$queue": []}], "not allowed", id="$queue"),
    pytest.param([{"$listMqlEntities": {}}], "not allowed", id="$listMqlEntities"),
    pytest.param([{"$_internalInhibitOptimization": {}}], "not allowed", id="an internal one"),
    pytest.param([{"$_internalAllCollectionStats": {}}], "not allowed", id="internal statistics"),
    pytest.param([{"$operationMetrics": {}}], "not allowed", id="$operationMetrics"),
    pytest.param([{"$backupCursor": {}}], "not allowed", id="$backupCursor"),
    pytest.param([{"$mergeCursors": {}}], "not allowed", id="$mergeCursors"),
    pytest.param([{"$search": {"index": "default", "text": {"synonyms": "secret"}}}], "search", id="37 $search"),
    pytest.param([{"$searchMeta": {}}], "search", id="37 $searchMeta"),
    pytest.param([{"$vectorSearch": {}}], "search", id="37 $vectorSearch"),
    pytest.param([{"$listSearchIndexes": {}}], "search", id="37 $listSearchIndexes"),
    pytest.param(
        [{"$rankFusion": {"input": {"pipelines": {"a": [{"$unionWith": "secret"}]}}}}], "search", id="18 rank"
    ),
    pytest.param([{"$scoreFusion": {"input": {"pipelines": {"a": match({})}}}}], "search", id="18 score"),
    pytest.param([{"\uff04out": "x"}], "not allowed", id="32 full-width dollar"),
    pytest.param([{" $out": "x"}], "not allowed", id="32 blank before"),
    pytest.param([{"$out ": "x"}], "not allowed", id="32 blank behind"),
    pytest.param([{"$OUT": "x"}], "not allowed", id="32 capitals"),
    pytest.param([{"$out\0": "x"}], "not allowed", id="32 NUL"),
    pytest.param([{"$\u200bout": "x"}], "not allowed", id="32 a mark without width"),
    pytest.param([{"$$out": "x"}], "not allowed", id="32 two dollars"),
    pytest.param([{"out": "x"}], "not allowed", id="32 no dollar"),
    pytest.param([{"$Match": {}}], "did you mean '$match'", id="32 a stage in other case"),
    pytest.param([{"$mach": {}}], "did you mean '$match'", id="a typing error"),
    pytest.param([{"": {}}], "not allowed", id="no name"),
    pytest.param([{"eval": "1"}], "not allowed", id="24 eval"),
    pytest.param([{"createUser": "x", "pwd": "x", "roles": []}], "not allowed", id="24 createUser"),
    pytest.param([{"renameCollection": "shop.secret", "to": "shop.orders"}], "not allowed", id="24 renameCollection"),
    pytest.param([{"$match": {"a": 1}, "$out": "x"}], "$out", id="31 two keys"),
    pytest.param([{"$match": {"a": 1}, "$limit": 1}], "exactly one key", id="31 two permitted keys"),
    pytest.param([{}], "a stage is an object", id="an empty stage"),
    pytest.param(["$out"], "a stage is an object", id="a string as stage"),
    pytest.param([None], "a stage is an object", id="null as stage"),
    pytest.param([[{"$out": "x"}]], "a stage is an object", id="a list as stage"),
    pytest.param([{"$facet": {"f": {"$out": "x"}}}], "a list of stages is needed", id="an object as pipeline"),
    pytest.param([{"$facet": [{"$out": "x"}]}], "an object is needed", id="a list as $facet"),
    pytest.param([{"$facet": {"$out": []}}], "$out", id="a facet called $out"),
]

OPTIONS = [
    pytest.param([{"$unwind": {"path": "$a", "extra": 1}}], id="$unwind"),
    pytest.param([lookup(**{"from": "orders", "into": "secret"})], id="$lookup.into"),
    pytest.param([lookup(**{"from": "orders", "FROM": "secret"})], id="$lookup.FROM"),
    pytest.param([lookup(**{"from": "orders", "_internalCollation": {}})], id="$lookup internal"),
    pytest.param([{"$unionWith": {"coll": "orders", "collation": {}}}], id="$unionWith.collation"),
    pytest.param([graph(**{"from": "orders", "pipeline": []})], id="$graphLookup.pipeline"),
    pytest.param([{"$bucket": {"groupBy": "$a", "boundaries": [], "x": 1}}], id="$bucket"),
    pytest.param([{"$sample": {"size": 1, "seed": 2}}], id="$sample"),
    pytest.param([{"$replaceRoot": {"newRoot": "$a", "x": 1}}], id="$replaceRoot"),
    pytest.param([{"$densify": {"field": "a", "range": {}, "x": 1}}], id="$densify"),
    pytest.param([{"$fill": {"output": {}, "x": 1}}], id="$fill"),
    pytest.param([{"$fill": {"output": {"a": {"value": 1, "x": 1}}}}], id="$fill.output"),
    pytest.param([{"$setWindowFields": {"output": {}, "x": 1}}], id="$setWindowFields"),
    pytest.param([{"$geoNear": {"near": [1, 2], "num": 3}}], id="$geoNear"),
    pytest.param(match({"$text": {"$search": "x", "$index": "y"}}), id="$text"),
    pytest.param(match({"a": {"$geoWithin": {"$shape": 1}}}), id="$geoWithin"),
]

MALFORMED = [
    pytest.param([{"$limit": -1}], id="negative"),
    pytest.param([{"$limit": 1.5}], id="fraction"),
    pytest.param([{"$limit": True}], id="true"),
    pytest.param([{"$limit": "1"}], id="text"),
    pytest.param([{"$skip": {"a": 1}}], id="object"),
    pytest.param([{"$skip": {"$numberDouble": "NaN"}}], id="NaN"),
    pytest.param([{"$skip": {"$numberDouble": "Infinity"}}], id="infinity"),
    pytest.param([{"$skip": 1e300}], id="beyond 64 bits"),
    pytest.param([{"$limit": {"$oid": ID}}], id="another form"),
    pytest.param([{"$sample": {"size": -1}}], id="$sample"),
    pytest.param([{"$sample": {}}], id="$sample without size"),
    pytest.param([{"$sample": 5}], id="$sample number"),
    pytest.param([{"$count": 1}], id="$count"),
    pytest.param([{"$unset": [1]}], id="$unset"),
    pytest.param([{"$unset": {"a": 1}}], id="$unset object"),
    pytest.param([{"$unwind": 1}], id="$unwind"),
    pytest.param([{"$unwind": {}}], id="$unwind without path"),
    pytest.param([{"$unwind": {"path": "$a", "preserveNullAndEmptyArrays": 1}}], id="$unwind flag"),
    pytest.param([{"$sort": {"a": "x"}}], id="$sort"),
    pytest.param([{"$sort": {"a": True}}], id="$sort true"),
    pytest.param([{"$sort": ["a"]}], id="$sort list"),
    pytest.param([{"$sort": {"$where": 1}}], id="$sort dollar"),
    pytest.param([{"$group": {"x": {"$sum": 1}}}], id="$group without _id"),
    pytest.param([{"$group": {"_id": 1, "x": 1}}], id="$group without accumulator"),
    pytest.param([{"$group": {"_id": 1, "x": {"a": 1}}}], id="$group of a field"),
    pytest.param([{"$group": {"_id": 1, "x": {"$sum": 1, "$avg": 1}}}], id="two accumulators"),
    pytest.param([{"$group": {"_id": 1, "x": {"$add": [1, 2]}}}], id="no accumulator"),
    pytest.param([{"$group": {"_id": 1, "$where": {"$sum": 1}}}], id="$group dollar"),
    pytest.param([{"$project": {"$x": 1}}], id="$project dollar"),
    pytest.param([{"$project": "x"}], id="$project text"),
    pytest.param(project({"$eq": [1, 1], "$ne": [1, 1]}), id="two operators"),
    pytest.param(project({"$eq": [1, 1], "a": 1}), id="an operator and a field"),
    pytest.param(project({"$meta": "searchScore"}), id="$meta of a search"),
    pytest.param(project({"$meta": {"$literal": "textScore"}}), id="$meta object"),
    pytest.param(project({"a\0b": 1}), id="NUL in a name"),
    pytest.param(match([{"a": 1}]), id="a list as filter"),
    pytest.param(match("$where"), id="a text as filter"),
    pytest.param(match({"$or": {"a": 1}}), id="$or object"),
    pytest.param(match({"a": {"$in": 1}}), id="$in of one"),
    pytest.param(match({"a": {"$in": {"$numberInt": "1"}}}), id="$in object"),
    pytest.param(match({"a": {"$gt": 1, "b": 2}}), id="an operator and a field in a filter"),
    pytest.param(match({"a": {"$regex": {"a": 1}}}), id="$regex object"),
    pytest.param(match({"a": {"$regex": "a", "$options": 1}}), id="$options number"),
    pytest.param(match({"a": {"$size": "x"}}), id="$size"),
    pytest.param(match({"a": {"$exists": "x"}}), id="$exists"),
    pytest.param(match({"a": {"$type": {"$where": 1}}}), id="$type"),
    pytest.param(match({"a": {"$not": "x"}}), id="$not of a value"),
    pytest.param(match({"a": {"$near": [1, 2]}}), id="$near"),
    pytest.param(match({"a": {"$nearSphere": [1, 2]}}), id="$nearSphere"),
    pytest.param(match({"a": {"$eq": {"$gt": 1}}}), id="an operator as a value"),
    pytest.param(match({"a": {"b": {"$gt": 1}}}), id="an operator in a document"),
    pytest.param(match({"a": {"$literal": {"$gt": 1}}}), id="$literal in a filter"),
    pytest.param(match({"$gt": 1}), id="an operator without a field"),
    pytest.param(match({"$eval": "1"}), id="an unknown operator"),
    pytest.param(match({"$jsonSchema": {"properties": {"a": {"$where": 1}}}}), id="$jsonSchema"),
    pytest.param(match({"$comment": {"a": 1}}), id="$comment"),
    pytest.param(match({"$expr": {"$where": "1"}}), id="a filter's operator in an expression"),
    pytest.param(match({"$expr": {"$regex": "x"}}), id="$regex in an expression"),
    pytest.param(match({"a": {"$sampleRate": 1}}), id="$sampleRate below a field"),
    pytest.param(project({"$const": {"$where": 1}}), id="the inner name of $literal"),
    pytest.param(project({"$_internalJsEmit": {"eval": "1"}}), id="internal JavaScript"),
    pytest.param(project({"$_internalJs": 1}), id="internal"),
    pytest.param(project("$$JS_SCOPE"), id="the variable of JavaScript"),
    pytest.param(project("$$IS_MR"), id="the variable of mapReduce"),
    pytest.param(project("$$USER_ROLES"), id="$$USER_ROLES"),
    pytest.param(project({"$size": "$$USER_ROLES.role"}), id="$$USER_ROLES with path"),
    pytest.param(project("$$SEARCH_META"), id="$$SEARCH_META"),
    pytest.param(project("$$"), id="a variable without a name"),
    pytest.param(project("$$root"[:2] + "ROOTS"), id="a variable like another"),
    pytest.param(lookup_let := [lookup(**{"from": "orders", "let": {"$v": 1}})], id="let with a dollar"),
    pytest.param([lookup(**{"from": "orders", "let": ["v"]})], id="let as a list"),
]

VALUES = [
    pytest.param(match({"a": {"$oid": "xyz"}}), id="$oid"),
    pytest.param(match({"a": {"$gt": {"$date": "yesterday"}}}), id="$date"),
    pytest.param(match({"a": {"$in": [{"$numberInt": "1.5"}]}}), id="$numberInt"),
    pytest.param(project({"$literal": {"a": [{"$numberLong": "x"}]}}), id="under $literal"),
    pytest.param(project({"$add": [{"$numberDecimal": "one"}, 1]}), id="in an expression"),
    pytest.param(match({"a": 2**64}), id="beyond 64 bits"),
    pytest.param(match({"a": "\ud800"}), id="half of a surrogate pair"),
    pytest.param(project("$a\udc00"), id="half of a surrogate pair in a path"),
    pytest.param(match({"$comment": "\ud800"}), id="half of a surrogate pair in an option"),
    pytest.param(match({"a": float("inf")}), id="infinity"),
]


def nested(levels: int) -> list[Any]:
    inner: Any = 1
    for _ in range(levels):
        inner = {"$not": [inner]}
    return project(inner)


def pipelines(levels: int) -> list[Any]:
    stages: list[Any] = []
    for _ in range(levels):
        stages = [lookup(**{"from": "orders", "pipeline": stages})]
    return stages


TOO_LARGE = [
    pytest.param([{"$limit": 1}] * (MAX_STAGES + 1), id="stages"),
    pytest.param([{"$facet": {"a": [{"$limit": 1}] * 60, "b": [{"$limit": 1}] * 60}}], id="stages inside"),
    pytest.param(pipelines(MAX_PIPELINES + 1), id="pipelines in pipelines"),
    pytest.param(nested(MAX_DEPTH), id="expressions"),
    pytest.param(nested(400), id="very deep expressions"),
    pytest.param(nested(100_000), id="deeper than Python goes"),
    pytest.param(match({"a": {"$in": list(range(MAX_SIZE))}}), id="29 a huge $in"),
    pytest.param(match({"a": "x" * MAX_SIZE}), id="29 a huge text"),
    pytest.param(match({"x" * MAX_SIZE: 1}), id="a huge name"),
    pytest.param([{"$project": {f"x{i}": 1 for i in range(MAX_SIZE // 5)}}], id="many fields"),
]

ACCEPTED = [
    pytest.param(match({"note": "$where"}), id="33 a text like an operator"),
    pytest.param(match({"op": {"$eq": "$out"}}), id="33 such a text under $eq"),
    pytest.param(match({"op": {"$in": ["$out", "$function"]}}), id="33 in a list"),
    pytest.param(match({"sentence": "function() { $where }"}), id="33 code as text"),
    pytest.param(project({"$literal": {"$function": 1}}), id="33 $literal"),
    pytest.param(project({"$literal": "$out"}), id="33 $literal text"),
    pytest.param(project({"$literal": [{"$where": {"$merge": ["$$x"]}, "a": 1}]}), id="33 dollar names in $literal"),
    pytest.param(project({"$literal": {"$code": "1"}}), id="33 $code in $literal"),
    pytest.param(project({"$eq": ["$op", {"$literal": "$out"}]}), id="33 compared with $literal"),
    pytest.param(project({"$getField": {"field": {"$literal": "$price"}, "input": "$$ROOT"}}), id="33 $getField"),
    pytest.param(project({"$setField": {"field": {"$literal": "$x"}, "input": "$a", "value": 1}}), id="33 $setField"),
    pytest.param(match({"link": {"$ref": "secret", "$id": 1}}), id="34 a DBRef"),
    pytest.param(match({"link": {"$ref": "secret", "$id": {"$oid": ID}, "$db": "other"}}), id="34 a DBRef with db"),
    pytest.param(match({"link": {"$in": [{"$ref": "secret", "$id": 1}]}}), id="34 a DBRef in a list"),
    pytest.param(match({"from": "secret", "pipeline": [1], "where": "x", "lookup": {"from": "x"}}), id="plain"),
    pytest.param([{"$project": {"from": 1, "pipeline.as": 1, "coll": 1}}], id="fields called like options"),
    pytest.param([], id="nothing"),
    pytest.param([{"$skip": {"$numberLong": "1"}}, {"$limit": 5.0}], id="whole numbers in other forms"),
    pytest.param(match({}), id="an empty filter"),
    pytest.param(match({"a": 1, "b.c": {"$gte": 1, "$lt": 5}, "d": None, "e": [1, {"f": 2}]}), id="a filter"),
    pytest.param(match({"$or": [{"a": {"$exists": True}}, {"$nor": [{"b": {"$type": ["int", 2]}}]}]}), id="combined"),
    pytest.param(match({"a": {"$regex": "^(a+)+$", "$options": "i"}}), id="28 a regular expression"),
    pytest.param(match({"a": {"$regularExpression": {"pattern": "x", "options": "i"}}}), id="one as Extended JSON"),
    pytest.param(match({"a": {"$not": {"$regex": "x"}}, "b": {"$not": {"$gt": 1}}}), id="$not"),
    pytest.param(match({"a": {"$elemMatch": {"$gt": 1, "$lt": 3}}}), id="$elemMatch of operators"),
    pytest.param(match({"a": {"$elemMatch": {"b": 1, "$or": [{"c": 2}]}}}), id="$elemMatch of a filter"),
    pytest.param(match({"a": {"$all": [1, {"b": 2}], "$size": 2, "$mod": [2, 0]}}), id="arrays"),
    pytest.param(match({"a": {"$all": [{"$elemMatch": {"b": {"$gt": 1}}}]}}), id="$all of $elemMatch"),
    pytest.param(match({"a": {"$bitsAllSet": [1, 5]}, "b": {"$bitsAnyClear": 7}}), id="bits"),
    pytest.param(match({"a": {"$geoWithin": {"$centerSphere": [[1, 2], 0.1]}}}), id="$geoWithin"),
    pytest.param(match({"a": {"$geoIntersects": {"$geometry": {"type": "Point", "coordinates": [1, 2]}}}}), id="geo"),
    pytest.param(match({"$text": {"$search": "coffee", "$caseSensitive": True}}), id="$text"),
    pytest.param(match({"$jsonSchema": {"required": ["a"], "properties": {"a": {"bsonType": "int"}}}}), id="schema"),
    pytest.param(match({"$expr": {"$gt": ["$a", "$b"]}, "$comment": "x", "$sampleRate": 0.3}), id="$expr"),
    pytest.param(match({"_id": {"$oid": ID}, "when": {"$gt": {"$date": "2024-01-31T10:00:00Z"}}}), id="EJSON"),
    pytest.param(match({"n": {"$in": [{"$numberLong": "5"}, {"$numberDecimal": "1.10"}, {"$minKey": 1}]}}), id="more"),
    pytest.param(
        [
            {"$match": {"status": "open"}},
            {"$group": {"_id": {"c": "$customer", "y": {"$year": "$at"}}, "n": {"$sum": 1}, "t": {"$sum": "$total"}}},
            {"$sort": {"n": -1, "_id.c": 1}},
            {"$skip": 2},
            {"$limit": 10},
            {"$project": {"_id": 0, "customer": "$_id.c", "n": 1, "mean": {"$round": [{"$divide": ["$t", "$n"]}, 2]}}},
        ],
        id="a report",
    ),
    pytest.param(
        [
            {"$unwind": {"path": "$items", "includeArrayIndex": "i", "preserveNullAndEmptyArrays": True}},
            {"$unwind": "$tags"},
            {"$set": {"x": {"$cond": {"if": {"$gt": ["$a", 1]}, "then": "$$REMOVE", "else": "$$NOW"}}}},
            {"$unset": ["a", "b.c"]},
            {"$replaceRoot": {"newRoot": {"$mergeObjects": ["$$ROOT", {"y": 1}]}}},
            {"$replaceWith": "$doc"},
            {"$sortByCount": "$tags"},
            {"$count": "n"},
        ],
        id="reshaping",
    ),
    pytest.param(
        [{"$redact": {"$cond": [{"$eq": ["$level", 5]}, "$$PRUNE", "$$DESCEND"]}}, {"$sample": {"size": 3}}], id="hide"
    ),
    pytest.param([{"$sample": {"size": 1_000_000_000}}], id="30 a large sample"),
    pytest.param([{"$bucketAuto": {"groupBy": "$a", "buckets": 1_000_000_000, "granularity": "R5"}}], id="30 buckets"),
    pytest.param(
        [
            {
                "$bucket": {
                    "groupBy": "$a",
                    "boundaries": [0, {"$numberDecimal": "5"}],
                    "default": "x",
                    "output": {"n": {"$count": {}}},
                }
            }
        ],
        id="buckets",
    ),
    pytest.param(
        [
            {
                "$setWindowFields": {
                    "partitionBy": "$a",
                    "sortBy": {"b": 1},
                    "output": {
                        "r": {"$rank": {}},
                        "s": {"$sum": "$x", "window": {"documents": ["unbounded", "current"]}},
                        "d": {
                            "$derivative": {"input": "$x", "unit": "hour"},
                            "window": {"range": [-1, 0], "unit": "hour"},
                        },
                    },
                }
            }
        ],
        id="windows",
    ),
    pytest.param(
        [
            {
                "$densify": {
                    "field": "at",
                    "range": {"step": 1, "unit": "hour", "bounds": [{"$date": "2024-01-01"}, {"$date": "2024-01-02"}]},
                }
            },
            {"$fill": {"sortBy": {"at": 1}, "output": {"x": {"method": "linear"}, "y": {"value": "$z"}}}},
        ],
        id="gaps",
    ),
    pytest.param(
        [{"$geoNear": {"near": {"type": "Point", "coordinates": [1, 2]}, "distanceField": "d", "query": {"a": 1}}}],
        id="$geoNear",
    ),
    pytest.param([{"$facet": {"n": [{"$count": "n"}], "top": [{"$sort": {"a": 1}}, {"$limit": 3}]}}], id="$facet"),
    pytest.param([{"$match": {"$text": {"$search": "x"}}}, {"$sort": {"s": {"$meta": "textScore"}}}], id="$meta"),
    pytest.param(
        project({"$map": {"input": "$items", "as": "i", "in": {"$filter": {"input": "$$i.tags", "cond": "$$this"}}}}),
        id="a loop in a loop",
    ),
    pytest.param(project({"$let": {"vars": {"n": 1, "\u00e4": 2}, "in": {"$add": ["$$n", "$$\u00e4"]}}}), id="$let"),
    pytest.param(project({"$switch": {"branches": [{"case": True, "then": "$a"}], "default": None}}), id="$switch"),
    pytest.param(project({"$convert": {"input": "$a", "to": "int", "onError": None}}), id="$convert"),
    pytest.param(project({"$regexMatch": {"input": "$a", "regex": "^x", "options": "i"}}), id="28 $regexMatch"),
    pytest.param(project({"a": {"b": 1}, "c": ["$x", {"d": {"$add": [1, "$y"]}}]}), id="objects and arrays"),
    pytest.param(project({"$and": [{"$oid": ID}, {"$date": {"$numberLong": "5"}}]}), id="EJSON in an expression"),
]

JOINS = [
    pytest.param([lookup(**{"from": "orders"})], ["orders"], id="$lookup"),
    pytest.param([lookup(**{"from": "orders", "let": {"n": "$name"}, "pipeline": match({})})], ["orders"], id="both"),
    pytest.param([{"$unionWith": "customers"}], ["customers"], id="$unionWith"),
    pytest.param([{"$unionWith": {"coll": "v_orders", "pipeline": match({})}}], ["v_orders"], id="21 a view"),
    pytest.param([graph(**{"from": "orders", "maxDepth": 2, "depthField": "d"})], ["orders"], id="$graphLookup"),
    pytest.param(
        [{"$facet": {"f": [{"$unionWith": "orders"}], "g": [lookup(**{"from": "customers"})]}}],
        ["orders", "customers"],
        id="18 in $facet",
    ),
    pytest.param([{"$lookup": {"pipeline": [{"$documents": [{"a": 1}]}], "as": "s"}}], [], id="15 $documents"),
    pytest.param(
        [{"$unionWith": {"pipeline": [{"$documents": [{"a": {"$oid": ID}}]}]}}], [], id="$unionWith documents"
    ),
    pytest.param(
        [{"$lookup": {"from": "orders", "pipeline": [{"$unionWith": "orders"}], "as": "s"}}], ["orders"], id="2x"
    ),
]
