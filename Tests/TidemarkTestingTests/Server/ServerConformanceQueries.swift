// ServerConformanceQueries.swift — requests and what Kinto 26.5 answers: filters, order and fields
// of a list, at last.
//
// The order of values is null, texts, numbers, false and true, arrays, objects, and last what is
// missing. A value that is JSON counts as such, so `1e5` is a number and `"1e5"` is a text.

let conformanceOfQueries = """
    PUT $b
    = 201 t41 perms
    = {"id":"conformance","last_modified":"t41"}
    PUT $c
    = 201 t42 perms
    = {"id":"c","last_modified":"t42"}
    PUT $r/a
    > {"data":{"d":"2026-01-01T00:00:00Z","last_modified":11}}
    = 201 t43 perms
    = {"d":"2026-01-01T00:00:00Z","id":"a","last_modified":"t43"}
    PUT $r/b
    > {"data":{"d":"2026-01-02T00:00:00Z","last_modified":12}}
    = 201 t44 perms
    = {"d":"2026-01-02T00:00:00Z","id":"b","last_modified":"t44"}
    PUT $r/c
    > {"data":{"d":20260101,"last_modified":13}}
    = 201 t45 perms
    = {"d":20260101,"id":"c","last_modified":"t45"}
    PUT $r/e
    > {"data":{"d":"20260101","last_modified":14}}
    = 201 t46 perms
    = {"d":"20260101","id":"e","last_modified":"t46"}
    PUT $r/f
    > {"data":{"d":null,"last_modified":15}}
    = 201 t47 perms
    = {"d":null,"id":"f","last_modified":"t47"}
    PUT $r/g
    > {"data":{"d":true,"last_modified":16}}
    = 201 t48 perms
    = {"d":true,"id":"g","last_modified":"t48"}
    PUT $r/h
    > {"data":{"d":[2],"last_modified":17}}
    = 201 t49 perms
    = {"d":[2],"id":"h","last_modified":"t49"}
    PUT $r/12
    > {"data":{"d":{"x":1},"last_modified":18}}
    = 201 t50 perms
    = {"d":{"x":1},"id":"12","last_modified":"t50"}
    PUT $r/1e5
    > {"data":{"min_x":5,"last_modified":19}}
    = 201 t51 perms
    = {"id":"1e5","last_modified":"t51","min_x":5}
    PUT $r/gone
    > {"data":{"d":"2026-01-03T00:00:00Z","last_modified":20}}
    = 201 t52 perms
    = {"d":"2026-01-03T00:00:00Z","id":"gone","last_modified":"t52"}
    DELETE $r/gone
    = 200 t53
    = {"deleted":true,"id":"gone","last_modified":"t53"}
    GET $r?_sort=-d
    = 200 t53
    = {"id":"1e5","last_modified":"t51","min_x":5}
    = {"d":{"x":1},"id":"12","last_modified":"t50"}
    = {"d":[2],"id":"h","last_modified":"t49"}
    = {"d":true,"id":"g","last_modified":"t48"}
    = {"d":20260101,"id":"c","last_modified":"t45"}
    = {"d":"20260101","id":"e","last_modified":"t46"}
    = {"d":"2026-01-02T00:00:00Z","id":"b","last_modified":"t44"}
    = {"d":"2026-01-01T00:00:00Z","id":"a","last_modified":"t43"}
    = {"d":null,"id":"f","last_modified":"t47"}
    GET $r?_sort=d&_limit=3
    = 200 t53 next
    = {"d":null,"id":"f","last_modified":"t47"}
    = {"d":"2026-01-01T00:00:00Z","id":"a","last_modified":"t43"}
    = {"d":"2026-01-02T00:00:00Z","id":"b","last_modified":"t44"}
    GET $r?max_d=2026-01-01T00:00:00Z&_sort=-d
    = 200 t53
    = {"d":"2026-01-01T00:00:00Z","id":"a","last_modified":"t43"}
    = {"d":null,"id":"f","last_modified":"t47"}
    GET $r?max_d=%222026-01-01T00:00:00Z%22&_sort=-d
    = 200 t53
    = {"d":"2026-01-01T00:00:00Z","id":"a","last_modified":"t43"}
    = {"d":null,"id":"f","last_modified":"t47"}
    GET $r?max_d=20260101&_sort=-d
    = 200 t53
    = {"d":20260101,"id":"c","last_modified":"t45"}
    = {"d":"20260101","id":"e","last_modified":"t46"}
    = {"d":"2026-01-02T00:00:00Z","id":"b","last_modified":"t44"}
    = {"d":"2026-01-01T00:00:00Z","id":"a","last_modified":"t43"}
    = {"d":null,"id":"f","last_modified":"t47"}
    GET $r?max_d=%2220260101%22&_sort=-d
    = 200 t53
    = {"d":"20260101","id":"e","last_modified":"t46"}
    = {"d":"2026-01-02T00:00:00Z","id":"b","last_modified":"t44"}
    = {"d":"2026-01-01T00:00:00Z","id":"a","last_modified":"t43"}
    = {"d":null,"id":"f","last_modified":"t47"}
    GET $r?lt_d=%2220260101%22&_sort=-d
    = 200 t53
    = {"d":"2026-01-02T00:00:00Z","id":"b","last_modified":"t44"}
    = {"d":"2026-01-01T00:00:00Z","id":"a","last_modified":"t43"}
    = {"d":null,"id":"f","last_modified":"t47"}
    GET $r?not_d=null&lt_d=%2220260101%22&_sort=-d
    = 200 t53
    = {"d":"2026-01-02T00:00:00Z","id":"b","last_modified":"t44"}
    = {"d":"2026-01-01T00:00:00Z","id":"a","last_modified":"t43"}
    GET $r?min_d=%222026-01-02T00:00:00Z%22&_sort=d
    = 200 t53
    = {"d":"2026-01-02T00:00:00Z","id":"b","last_modified":"t44"}
    = {"d":"20260101","id":"e","last_modified":"t46"}
    = {"d":20260101,"id":"c","last_modified":"t45"}
    = {"d":true,"id":"g","last_modified":"t48"}
    = {"d":[2],"id":"h","last_modified":"t49"}
    = {"d":{"x":1},"id":"12","last_modified":"t50"}
    = {"id":"1e5","last_modified":"t51","min_x":5}
    GET $r?gt_d=%222026-01-02T00:00:00Z%22&_sort=d
    = 200 t53
    = {"d":"20260101","id":"e","last_modified":"t46"}
    = {"d":20260101,"id":"c","last_modified":"t45"}
    = {"d":true,"id":"g","last_modified":"t48"}
    = {"d":[2],"id":"h","last_modified":"t49"}
    = {"d":{"x":1},"id":"12","last_modified":"t50"}
    = {"id":"1e5","last_modified":"t51","min_x":5}
    GET $r?min_d=%222026-01-02T00:00:00Z%22&lt_d=false&_sort=d
    = 200 t53
    = {"d":"2026-01-02T00:00:00Z","id":"b","last_modified":"t44"}
    = {"d":"20260101","id":"e","last_modified":"t46"}
    = {"d":20260101,"id":"c","last_modified":"t45"}
    GET $r?has_d=true&min_d=%222026-01-02T00:00:00Z%22&_sort=d
    = 200 t53
    = {"d":"2026-01-02T00:00:00Z","id":"b","last_modified":"t44"}
    = {"d":"20260101","id":"e","last_modified":"t46"}
    = {"d":20260101,"id":"c","last_modified":"t45"}
    = {"d":true,"id":"g","last_modified":"t48"}
    = {"d":[2],"id":"h","last_modified":"t49"}
    = {"d":{"x":1},"id":"12","last_modified":"t50"}
    GET $r?min_d=%222026-01-02T00:00:00Z%22&has_d=true&_sort=d
    = 200 t53
    = {"d":null,"id":"f","last_modified":"t47"}
    = {"d":"2026-01-01T00:00:00Z","id":"a","last_modified":"t43"}
    = {"d":"2026-01-02T00:00:00Z","id":"b","last_modified":"t44"}
    = {"d":"20260101","id":"e","last_modified":"t46"}
    = {"d":20260101,"id":"c","last_modified":"t45"}
    = {"d":true,"id":"g","last_modified":"t48"}
    = {"d":[2],"id":"h","last_modified":"t49"}
    = {"d":{"x":1},"id":"12","last_modified":"t50"}
    GET $r?eq_d=%222026-01-02T00:00:00Z%22&_sort=id&gt_id=%22a%22
    = 200 t53
    = {"d":"2026-01-02T00:00:00Z","id":"b","last_modified":"t44"}
    GET $r?d=%222026-01-02T00:00:00Z%22&_sort=id&gt_id=%22b%22
    = 200 t53
    GET $r?eq_d=%222026-01-02T01:00:00+01:00%22
    = 200 t53
    GET $r?eq_d=2.02601010e7
    = 200 t53
    = {"d":20260101,"id":"c","last_modified":"t45"}
    GET $r?min_d=%5B1%5D&_sort=d
    = 200 t53
    = {"d":[2],"id":"h","last_modified":"t49"}
    = {"d":{"x":1},"id":"12","last_modified":"t50"}
    = {"id":"1e5","last_modified":"t51","min_x":5}
    GET $r?min_d=%7B%22y%22:1%7D
    = 500/999 Internal Server Error
    GET $r?min_x=0&_sort=min_x
    = 200 t53
    = {"id":"1e5","last_modified":"t51","min_x":5}
    = {"d":{"x":1},"id":"12","last_modified":"t50"}
    = {"d":[2],"id":"h","last_modified":"t49"}
    = {"d":true,"id":"g","last_modified":"t48"}
    = {"d":null,"id":"f","last_modified":"t47"}
    = {"d":"20260101","id":"e","last_modified":"t46"}
    = {"d":20260101,"id":"c","last_modified":"t45"}
    = {"d":"2026-01-02T00:00:00Z","id":"b","last_modified":"t44"}
    = {"d":"2026-01-01T00:00:00Z","id":"a","last_modified":"t43"}
    GET $r?eq_min_x=5
    = 200 t53
    = {"id":"1e5","last_modified":"t51","min_x":5}
    GET $r?max_a-b=5
    = 200 t53
    GET $r?_sort=a-b&_limit=1
    = 200 t53 next
    = {"id":"1e5","last_modified":"t51","min_x":5}
    GET $r?_sort=d,-id&has_d=false
    = 200 t53
    = {"id":"1e5","last_modified":"t51","min_x":5}
    GET $r?_fields=id&_sort=id&_limit=3
    = 200 t53 next
    = {"id":"12","last_modified":"t50"}
    = {"id":"1e5","last_modified":"t51"}
    = {"id":"a","last_modified":"t43"}
    GET $r?_fields=id&_sort=id&gt_id=12
    = 200 t53
    = {"id":"1e5","last_modified":"t51"}
    = {"id":"a","last_modified":"t43"}
    = {"id":"b","last_modified":"t44"}
    = {"id":"c","last_modified":"t45"}
    = {"id":"e","last_modified":"t46"}
    = {"id":"f","last_modified":"t47"}
    = {"id":"g","last_modified":"t48"}
    = {"id":"h","last_modified":"t49"}
    GET $r?_fields=id&_sort=id&gt_id=%221e5%22
    = 200 t53
    = {"id":"a","last_modified":"t43"}
    = {"id":"b","last_modified":"t44"}
    = {"id":"c","last_modified":"t45"}
    = {"id":"e","last_modified":"t46"}
    = {"id":"f","last_modified":"t47"}
    = {"id":"g","last_modified":"t48"}
    = {"id":"h","last_modified":"t49"}
    GET $r?_fields=id&_sort=id&gt_id=1e5
    = 200 t53
    GET $r?_fields=d&_sort=id&max_id=%22a%22
    = 200 t53
    = {"d":{"x":1},"id":"12","last_modified":"t50"}
    = {"id":"1e5","last_modified":"t51"}
    = {"d":"2026-01-01T00:00:00Z","id":"a","last_modified":"t43"}
    GET $r?_fields=deleted&min_last_modified=19
    = 200 t53
    = {"deleted":true,"id":"gone","last_modified":"t53"}
    = {"id":"1e5","last_modified":"t51"}
    GET $r?_fields=id&min_last_modified=19
    = 200 t53
    = {"id":"gone","last_modified":"t53"}
    = {"id":"1e5","last_modified":"t51"}
    GET $r?min_last_modified=18&_sort=last_modified
    = 200 t53
    = {"d":{"x":1},"id":"12","last_modified":"t50"}
    = {"id":"1e5","last_modified":"t51","min_x":5}
    = {"deleted":true,"id":"gone","last_modified":"t53"}
    GET $r?max_last_modified=12&_sort=-last_modified
    = 200 t53
    = {"d":"2026-01-02T00:00:00Z","id":"b","last_modified":"t44"}
    = {"d":"2026-01-01T00:00:00Z","id":"a","last_modified":"t43"}
    GET $r?eq_last_modified=12
    = 200 t53
    = {"d":"2026-01-02T00:00:00Z","id":"b","last_modified":"t44"}
    GET $r?last_modified=12
    = 200 t53
    = {"d":"2026-01-02T00:00:00Z","id":"b","last_modified":"t44"}
    GET $r?last_modified=x
    = 400/107 Invalid parameters
    = invalid querystring.last_modified
    GET $r?id=12
    = 400/107 Invalid parameters
    = invalid querystring.id
    GET $r?id=%2212%22
    = 200 t53
    = {"d":{"x":1},"id":"12","last_modified":"t50"}
    GET $r?min_last_modified=%2218%22
    = 200 t53
    = {"deleted":true,"id":"gone","last_modified":"t53"}
    = {"id":"1e5","last_modified":"t51","min_x":5}
    = {"d":{"x":1},"id":"12","last_modified":"t50"}
    = {"d":[2],"id":"h","last_modified":"t49"}
    = {"d":true,"id":"g","last_modified":"t48"}
    = {"d":null,"id":"f","last_modified":"t47"}
    = {"d":"20260101","id":"e","last_modified":"t46"}
    = {"d":20260101,"id":"c","last_modified":"t45"}
    = {"d":"2026-01-02T00:00:00Z","id":"b","last_modified":"t44"}
    = {"d":"2026-01-01T00:00:00Z","id":"a","last_modified":"t43"}
    GET $r?min_last_modified=x
    = 400/107 Invalid parameters
    = invalid querystring.min_last_modified
    GET $r?min_last_modified=-1
    = 400/107 Invalid parameters
    = invalid querystring.min_last_modified
    GET $r?min_last_modified=9999999999999
    = 400/107 Invalid parameters
    = invalid querystring.min_last_modified
    GET $r?has_last_modified=true
    = 400/107 Invalid parameters
    = invalid querystring.has_last_modified
    GET $r?not_last_modified=null
    = 400/107 Invalid parameters
    = invalid querystring.not_last_modified
    GET $r?max_d=%00
    = 400/107 Invalid parameters
    = invalid querystring.max_d
    GET $r?_limit=x
    = 400/107 Invalid parameters
    = invalid querystring._limit
    GET $r?_limit=-1
    = 400/107 Invalid parameters
    = invalid querystring._limit
    GET $r?_limit=2.5&_sort=id
    = 200 t53 next
    = {"d":{"x":1},"id":"12","last_modified":"t50"}
    = {"id":"1e5","last_modified":"t51","min_x":5}
    GET $r?_limit=&_sort=id&lt_id=%22b%22
    = 200 t53
    = {"d":{"x":1},"id":"12","last_modified":"t50"}
    = {"id":"1e5","last_modified":"t51","min_x":5}
    = {"d":"2026-01-01T00:00:00Z","id":"a","last_modified":"t43"}
    GET $r?_since=true
    = 400/107 Invalid parameters
    = invalid querystring._since
    HEAD $r?max_d=20260101
    = 200 t53 total=5
    HEAD $r?min_last_modified=18
    = 200 t53 total=2
    PUT $r/i
    > {"data":{"d":{"x":2},"last_modified":21}}
    = 201 t54 perms
    = {"d":{"x":2},"id":"i","last_modified":"t54"}
    GET $r?_sort=d
    = 500/999 Internal Server Error
    GET $r?_sort=x,d
    = 500/999 Internal Server Error
    GET $r?min_d=%7B%22x%22:1%7D
    = 500/999 Internal Server Error
    DELETE $b
    = 200 t55
    = {"deleted":true,"id":"conformance","last_modified":"t55"}
    """
