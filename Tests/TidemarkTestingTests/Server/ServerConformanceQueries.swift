// ServerConformanceQueries.swift — requests and what Kinto 26.5 answers: filters, order and fields
// of a list, at last.
//
// The order of values is null, texts, numbers, false and true, arrays, objects, and last what is
// missing. A value that is JSON counts as such, so `1e5` is a number and `"1e5"` is a text.

let conformanceOfQueries = """
    PUT $b
    PUT $c
    PUT $r/a
    > {"data":{"d":"2026-01-01T00:00:00Z","last_modified":11}}
    PUT $r/b
    > {"data":{"d":"2026-01-02T00:00:00Z","last_modified":12}}
    PUT $r/c
    > {"data":{"d":20260101,"last_modified":13}}
    PUT $r/e
    > {"data":{"d":"20260101","last_modified":14}}
    PUT $r/f
    > {"data":{"d":null,"last_modified":15}}
    PUT $r/g
    > {"data":{"d":true,"last_modified":16}}
    PUT $r/h
    > {"data":{"d":[2],"last_modified":17}}
    PUT $r/12
    > {"data":{"d":{"x":1},"last_modified":18}}
    PUT $r/1e5
    > {"data":{"min_x":5,"last_modified":19}}
    PUT $r/gone
    > {"data":{"d":"2026-01-03T00:00:00Z","last_modified":20}}
    DELETE $r/gone
    GET $r?_sort=-d
    GET $r?_sort=d&_limit=3
    GET $r?max_d=2026-01-01T00:00:00Z&_sort=-d
    GET $r?max_d=%222026-01-01T00:00:00Z%22&_sort=-d
    GET $r?max_d=20260101&_sort=-d
    GET $r?max_d=%2220260101%22&_sort=-d
    GET $r?lt_d=%2220260101%22&_sort=-d
    GET $r?not_d=null&lt_d=%2220260101%22&_sort=-d
    GET $r?min_d=%222026-01-02T00:00:00Z%22&_sort=d
    GET $r?gt_d=%222026-01-02T00:00:00Z%22&_sort=d
    GET $r?has_d=true&min_d=%222026-01-02T00:00:00Z%22&_sort=d
    GET $r?min_d=%222026-01-02T00:00:00Z%22&has_d=true&_sort=d
    GET $r?eq_d=%222026-01-02T00:00:00Z%22&_sort=id&gt_id=%22a%22
    GET $r?d=%222026-01-02T00:00:00Z%22&_sort=id&gt_id=%22b%22
    GET $r?eq_d=%222026-01-02T01:00:00+01:00%22
    GET $r?eq_d=2.02601010e7
    GET $r?min_d=[1]&_sort=d
    GET $r?min_d={"y":1}
    GET $r?min_x=0&_sort=min_x
    GET $r?eq_min_x=5
    GET $r?max_a-b=5
    GET $r?_sort=a-b&_limit=1
    GET $r?_sort=d,-id&has_d=false
    GET $r?_fields=id&_sort=id&_limit=3
    GET $r?_fields=id&_sort=id&gt_id=12
    GET $r?_fields=id&_sort=id&gt_id=%221e5%22
    GET $r?_fields=id&_sort=id&gt_id=1e5
    GET $r?_fields=d&_sort=id&max_id=%22a%22
    GET $r?_fields=deleted&min_last_modified=19
    GET $r?_fields=id&min_last_modified=19
    GET $r?min_last_modified=18&_sort=last_modified
    GET $r?max_last_modified=12&_sort=-last_modified
    GET $r?eq_last_modified=12
    GET $r?last_modified=12
    GET $r?last_modified=x
    GET $r?id=12
    GET $r?id=%2212%22
    GET $r?min_last_modified=%2218%22
    GET $r?min_last_modified=x
    GET $r?min_last_modified=-1
    GET $r?min_last_modified=9999999999999
    GET $r?has_last_modified=true
    GET $r?not_last_modified=null
    GET $r?max_d=%00
    GET $r?_limit=x
    GET $r?_limit=-1
    GET $r?_limit=2.5&_sort=id
    GET $r?_limit=&_sort=id&lt_id=%22b%22
    GET $r?_since=true
    HEAD $r?max_d=20260101
    HEAD $r?min_last_modified=18
    PUT $r/i
    > {"data":{"d":{"x":2},"last_modified":21}}
    GET $r?_sort=d
    GET $r?_sort=x,d
    GET $r?min_d={"x":1}
    DELETE $b
    """
