"""The names of MongoDB 8 that a caller's pipeline may use in expressions, and why others may not be used.

See https://www.mongodb.com/docs/manual/reference/operator/aggregation/. None of the operators listed here reads another
document than the one at hand; a name that is not listed is refused, so also what a newer server brings.
"""

from __future__ import annotations


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


_OF_SEVERAL = "$avg $max $median $min $percentile $stdDevPop $stdDevSamp $sum"
OPERATORS = _words(
    _OF_SEVERAL,
    "$abs $add $ceil $divide $exp $floor $ln $log $log10 $mod $multiply $pow $rand $round $sigmoid $sqrt $subtract",
    "$trunc $bitAnd $bitNot $bitOr $bitXor $degreesToRadians $radiansToDegrees",
    "$acos $acosh $asin $asinh $atan $atan2 $atanh $cos $cosh $sin $sinh $tan $tanh",
    "$arrayElemAt $arrayToObject $concatArrays $filter $first $firstN $in $indexOfArray $isArray $last $lastN $map",
    "$maxN $minN $objectToArray $range $reduce $reverseArray $size $slice $sortArray $zip",
    "$allElementsTrue $anyElementTrue $setDifference $setEquals $setIntersection $setIsSubset $setUnion",
    "$and $cmp $cond $eq $gt $gte $ifNull $lt $lte $ne $not $or $switch",
    "$dateAdd $dateDiff $dateFromParts $dateFromString $dateSubtract $dateToParts $dateToString $dateTrunc $dayOfMonth",
    "$dayOfWeek $dayOfYear $hour $isoDayOfWeek $isoWeek $isoWeekYear $millisecond $minute $month $second $week $year",
    "$tsIncrement $tsSecond",
    "$concat $indexOfBytes $indexOfCP $ltrim $regexFind $regexFindAll $regexMatch $replaceAll $replaceOne $rtrim",
    "$split $strLenBytes $strLenCP $strcasecmp $substr $substrBytes $substrCP $toLower $toUpper $trim",
    "$binarySize $bsonSize $convert $isNumber $toBool $toDate $toDecimal $toDouble $toInt $toLong $toObjectId",
    "$toString $toUUID $type",
    "$getField $let $literal $mergeObjects $meta $setField $unsetField",
)
ACCUMULATORS = _words(
    _OF_SEVERAL,
    "$addToSet $bottom $bottomN $concatArrays $count $first $firstN $last $lastN $maxN $mergeObjects $minN $push",
    "$setUnion $top $topN",
)
WINDOW_OPERATORS = ACCUMULATORS | _words(
    "$covariancePop $covarianceSamp $denseRank $derivative $documentNumber $expMovingAvg $integral $linearFill $locf",
    "$minMaxScaler $rank $shift",
)
# Variables of the server. $$USER_ROLES would tell about the account, $$SEARCH_META belongs to search indexes.
VARIABLES = _words("$$ROOT $$CURRENT $$REMOVE $$NOW $$CLUSTER_TIME $$DESCEND $$PRUNE $$KEEP")
META = ("geoNearDistance", "geoNearPoint", "indexKey", "textScore")

_JAVASCRIPT = "it runs JavaScript on the server; use the operators of MongoDB itself"
_WRITES = "database_aggregate only reads; store rows with database_insert or database_upsert"
_OTHERS = "it shows what other clients of the server do"
_INNARDS = "it shows the server's own state; database_describe tells about a collection"
_SEARCH = "search indexes are outside of allowed_tables; use $match"
# Words that deserve a better refusal than "not known", wherever they stand.
REFUSED = {
    **dict.fromkeys(_words("$where $function $accumulator $code mapReduce $mapReduce"), _JAVASCRIPT),
    **dict.fromkeys(_words("$out $merge"), _WRITES),
    **dict.fromkeys(_words("$currentOp $listSessions $listLocalSessions $listSampledQueries $queryStats"), _OTHERS),
    **dict.fromkeys(
        _words("$collStats $indexStats $listCatalog $planCacheStats $querySettings $shardedDataDistribution"), _INNARDS
    ),
    **dict.fromkeys(
        _words("$search $searchMeta $vectorSearch $listSearchIndexes $rankFusion $scoreFusion $$SEARCH_META"), _SEARCH
    ),
    "$changeStream": "it never ends",
    "$$USER_ROLES": "it tells about the account of this program",
    "$near": "use the stage $geoNear",
    "$nearSphere": "use the stage $geoNear",
}
