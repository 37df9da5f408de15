// ServerConformanceLikeness.swift — requests and what Kinto 26.5 answers: records that look like
// tombstones, after the lists, and the user's own bucket.
//
// $p is the list of the collections of the bucket `default`.

let conformanceOfLikeness = """
    PUT $b
    = 201 t23 perms
    = {"id":"conformance","last_modified":"t23"}
    PUT $c
    = 201 t24 perms
    = {"id":"c","last_modified":"t24"}
    PUT $r/d
    > {"data":{"deleted":true}}
    = 201 t25 perms
    = {"deleted":true,"id":"d","last_modified":"t25"}
    PUT $r/d If-None-Match=*
    > {"data":{"x":1}}
    = 412/114 t25 Precondition Failed
    = {"existing":{"deleted":true,"id":"d","last_modified":"t25"}}
    GET $r/d
    = 200 t25 perms
    = {"deleted":true,"id":"d","last_modified":"t25"}
    PUT $r/7
    > {"data":{"deleted":true,"x":1}}
    = 201 t26 perms
    = {"deleted":true,"id":"7","last_modified":"t26","x":1}
    PUT $r/e
    > {"data":{"x":1}}
    = 201 t27 perms
    = {"id":"e","last_modified":"t27","x":1}
    DELETE $r/e
    = 200 t28
    = {"deleted":true,"id":"e","last_modified":"t28"}
    GET $r?_since=0
    = 200 t28
    = {"deleted":true,"id":"e","last_modified":"t28"}
    = {"deleted":true,"id":"7","last_modified":"t26","x":1}
    = {"deleted":true,"id":"d","last_modified":"t25"}
    GET $r
    = 200 t28
    = {"deleted":true,"id":"7","last_modified":"t26","x":1}
    = {"deleted":true,"id":"d","last_modified":"t25"}
    GET $r?deleted=true
    = 200 t28
    = {"deleted":true,"id":"7","last_modified":"t26","x":1}
    = {"deleted":true,"id":"d","last_modified":"t25"}
    GET $r?deleted=true&_limit=1
    = 200 t28 next
    = {"deleted":true,"id":"7","last_modified":"t26","x":1}
    GET $next
    = 200 t28
    = {"deleted":true,"id":"d","last_modified":"t25"}
    GET $r?in_id=%22d%22,%227%22,%22e%22
    = 200 t28
    = {"deleted":true,"id":"7","last_modified":"t26","x":1}
    = {"deleted":true,"id":"d","last_modified":"t25"}
    GET $r?in_id=d,e
    = 200 t28
    = {"deleted":true,"id":"d","last_modified":"t25"}
    GET $r?in_id=7
    = 400/107 Invalid parameters
    = invalid querystring.in_id
    GET $r?in_id=%22none%22
    = 200 t28
    GET $r?_since=0&in_id=%22e%22
    = 200 t28
    = {"deleted":true,"id":"e","last_modified":"t28"}
    GET $r?_since=0&deleted=true
    = 200 t28
    = {"deleted":true,"id":"e","last_modified":"t28"}
    = {"deleted":true,"id":"7","last_modified":"t26","x":1}
    = {"deleted":true,"id":"d","last_modified":"t25"}
    GET $r?_since=W/%22$t25%22
    = 400/107 Invalid parameters
    = invalid querystring._since
    GET $r?_since=0 If-None-Match=W/"$t25"
    = 400/107 Invalid parameters
    = invalid header.If-None-Match
    PATCH $r/7
    > {"data":{"deleted":false}}
    = 200 t29 perms
    = {"deleted":false,"id":"7","last_modified":"t29","x":1}
    GET $r?deleted=true
    = 200 t29
    = {"deleted":true,"id":"d","last_modified":"t25"}
    DELETE $r/d
    = 200 t30
    = {"deleted":true,"id":"d","last_modified":"t30"}
    DELETE $b
    = 200 t31
    = {"deleted":true,"id":"conformance","last_modified":"t31"}
    GET /v1/buckets/default Authorization=none
    = 401/104 Unauthorized auth
    GET $p/c/records Authorization=none
    = 401/104 Unauthorized auth
    GET /v1/buckets/default
    = 200 t32 perms
    = {"id":"made","last_modified":"t32"}
    GET $p
    = 200 t33
    GET $p/none/records/x
    = 404/110 Not Found
    = {"id":"x","resource_name":"record"}
    GET $p?_fields=last_modified
    = 200 t34
    = {"id":"none","last_modified":"t34"}
    PUT $p/c/records/a
    > {"data":{"x":1}}
    = 201 t35 perms
    = {"id":"a","last_modified":"t35","x":1}
    PUT $p/c/records/b
    > {"data":{"x":2}}
    = 201 t36 perms
    = {"id":"b","last_modified":"t36","x":2}
    GET $p/c/records?_limit=1&_since=0
    = 200 t36 next
    = {"id":"b","last_modified":"t36","x":2}
    GET $next
    = 200 t36
    = {"id":"a","last_modified":"t35","x":1}
    GET $p/c/records/a
    = 200 t35 perms
    = {"id":"a","last_modified":"t35","x":1}
    DELETE $p/c/records/a If-Match="1"
    = 412/114 t35 Precondition Failed
    = {"existing":{"id":"a","last_modified":"t35","x":1}}
    DELETE $p/c/records/a
    = 200 t37
    = {"deleted":true,"id":"a","last_modified":"t37"}
    GET $p/c/records?_since=0
    = 200 t37
    = {"deleted":true,"id":"a","last_modified":"t37"}
    = {"id":"b","last_modified":"t36","x":2}
    DELETE $p/c
    = 200 t38
    = {"deleted":true,"id":"c","last_modified":"t38"}
    GET $p/c/records?_since=0
    = 200 t39
    DELETE /v1/buckets/default
    = 200 t40
    = {"deleted":true,"id":"made","last_modified":"t40"}
    GET $next
    = 403/121 Forbidden
    """
