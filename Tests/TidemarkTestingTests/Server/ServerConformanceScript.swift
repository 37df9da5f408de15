// ServerConformanceScript.swift — requests and what Kinto 26.5 answers: objects.
//
// $b is a bucket, $c a collection in it, $r its records, $next the page after the last one and
// $t1 a timestamp by its number. Timestamps are numbered in the order in which they first show up.
// An answer is its status and errno, its ETag, then words: the error's name, `perms` for
// permissions in the body, `next` for a next page, `total=N`, `auth` and `allow` for those fields.
// Below it stands `data`, a row on each line, or the error's details; of a batch the answers of its
// parts, each with its path.

/// The whole script; every line of an answer was recorded from the real server.
let conformanceScript = [
    conformanceOfObjects, conformanceOfLists, conformanceOfLikeness, conformanceOfQueries,
    conformanceOfBatches,
].joined(separator: "\n")

let conformanceOfObjects = """
    GET /v1/ Authorization=none
    = 200
    PUT $b Authorization=none
    = 401/104 Unauthorized auth
    GET $b
    = 404/110 Not Found
    = {"id":"conformance","resource_name":"bucket"}
    GET $c
    = 403/121 Forbidden
    GET $r
    = 403/121 Forbidden
    GET /v1/nothing
    = 404/111 Not Found
    PUT $b If-None-Match=*
    = 201 t1 perms
    = {"id":"conformance","last_modified":"t1"}
    PUT $b If-None-Match=*
    = 412/114 t1 Precondition Failed
    = {"existing":{"id":"conformance","last_modified":"t1"}}
    GET $b
    = 200 t1 perms
    = {"id":"conformance","last_modified":"t1"}
    GET $r
    = 404/111 Not Found
    = {"id":"c","resource_name":"collection"}
    GET $c
    = 404/110 Not Found
    = {"id":"c","resource_name":"collection"}
    GET $r/a
    = 404/111 Not Found
    = {"id":"c","resource_name":"collection"}
    PUT $r/a
    > {"data":{"x":1}}
    = 404/111 Not Found
    = {"id":"c","resource_name":"collection"}
    PUT $c
    > {"data":{"note":"first"}}
    = 201 t2 perms
    = {"id":"c","last_modified":"t2","note":"first"}
    GET $c
    = 200 t2 perms
    = {"id":"c","last_modified":"t2","note":"first"}
    GET $c If-None-Match="$t2"
    = 304 t2
    GET $r
    = 200 t3
    GET $r Authorization=none
    = 401/104 Unauthorized auth
    GET $r If-None-Match="$t3"
    = 304 t3
    GET $r/a
    = 404/110 Not Found
    = {"id":"a","resource_name":"record"}
    PUT $r/a If-None-Match=*
    > {"data":{"x":1,"deep":{"y":[1,null,"é"]}}}
    = 201 t4 perms
    = {"deep":{"y":[1,null,"é"]},"id":"a","last_modified":"t4","x":1}
    PUT $r/a If-None-Match=*
    > {"data":{"x":2}}
    = 412/114 t4 Precondition Failed
    = {"existing":{"deep":{"y":[1,null,"é"]},"id":"a","last_modified":"t4","x":1}}
    GET $r/a
    = 200 t4 perms
    = {"deep":{"y":[1,null,"é"]},"id":"a","last_modified":"t4","x":1}
    GET $r/a If-None-Match="$t4"
    = 304 t4
    GET $r/a If-None-Match="1"
    = 200 t4 perms
    = {"deep":{"y":[1,null,"é"]},"id":"a","last_modified":"t4","x":1}
    GET $r/a If-Match="1"
    = 412/114 t4 Precondition Failed
    = {"existing":{"deep":{"y":[1,null,"é"]},"id":"a","last_modified":"t4","x":1}}
    PUT $r/b
    > {"data":{"x":1}}
    = 201 t5 perms
    = {"id":"b","last_modified":"t5","x":1}
    PUT $r/b If-Match="$t5"
    > {"data":{"x":2,"id":"b"}}
    = 200 t6 perms
    = {"id":"b","last_modified":"t6","x":2}
    PUT $r/b If-Match="$t5"
    > {"data":{"x":3}}
    = 412/114 t6 Precondition Failed
    = {"existing":{"id":"b","last_modified":"t6","x":2}}
    PUT $r/b If-Match=*
    > {"data":{"y":3}}
    = 200 t7 perms
    = {"id":"b","last_modified":"t7","y":3}
    PUT $r/b If-Match=$t6
    > {"data":{"x":3}}
    = 400/107 Invalid parameters
    = invalid header.If-Match
    PUT $r/b
    = 200 t8 perms
    = {"id":"b","last_modified":"t8","y":3}
    PUT $r/b
    > {"data":{"id":"other"}}
    = 400/107 Invalid parameters
    = invalid body.id
    PUT $r/b
    > {"data":{"last_modified":1}}
    = 200 t9 perms
    = {"id":"b","last_modified":"t9"}
    PUT $r/b
    > {"data":[1]}
    = 400/107 Invalid parameters
    = invalid body.data
    PUT $r/b
    > [1]
    = 400/107 Invalid parameters
    = invalid body.
    PUT $r/b
    > {"data":
    = 400/107 Invalid parameters
    = invalid body.
    PUT $r/b
    > {"stuff":{}}
    = 400/107 Invalid parameters
    = invalid body.
    PUT $r/b Content-Type=text/plain
    > {"data":{"x":3}}
    = 415/107 Invalid parameters
    = invalid header.Content-Type
    PUT $r/bad%20id
    > {"data":{}}
    = 400/107 Invalid parameters
    = invalid path.
    PUT $r/none If-Match="1"
    > {"data":{"x":3}}
    = 412/114 t9 Precondition Failed
    PATCH $r/b If-Match="$t9"
    > {"data":{"z":{"k":1},"y":null}}
    = 200 t10 perms
    = {"id":"b","last_modified":"t10","y":null,"z":{"k":1}}
    PATCH $r/b
    > {"data":{"z":{"l":2}}}
    = 200 t11 perms
    = {"id":"b","last_modified":"t11","y":null,"z":{"l":2}}
    PATCH $r/b If-Match="$t9"
    > {"data":{"x":3}}
    = 412/114 t11 Precondition Failed
    = {"existing":{"id":"b","last_modified":"t11","y":null,"z":{"l":2}}}
    PATCH $r/b
    > {}
    = 400/107 Invalid parameters
    = invalid body.data
    PATCH $r/none
    > {"data":{"x":3}}
    = 404/110 Not Found
    = {"id":"none","resource_name":"record"}
    POST $r
    > {"data":{"id":"b","x":5}}
    = 200 t11 perms
    = {"id":"b","last_modified":"t11","y":null,"z":{"l":2}}
    POST $r
    > {"data":{"id":"p","x":5}}
    = 201 t12 perms
    = {"id":"p","last_modified":"t12","x":5}
    POST $r
    > {"data":{"x":6}}
    = 201 t13 perms
    = {"id":"made","last_modified":"t13","x":6}
    DELETE $r/p If-Match="1"
    = 412/114 t12 Precondition Failed
    = {"existing":{"id":"p","last_modified":"t12","x":5}}
    DELETE $r/p If-Match="$t12"
    = 200 t14
    = {"deleted":true,"id":"p","last_modified":"t14"}
    DELETE $r/p
    = 404/110 Not Found
    = {"id":"p","resource_name":"record"}
    DELETE $r/p If-Match="$t12"
    = 404/110 Not Found
    = {"id":"p","resource_name":"record"}
    GET $r/p
    = 404/110 Not Found
    = {"id":"p","resource_name":"record"}
    PUT $r/p If-Match="$t12"
    > {"data":{"x":5}}
    = 412/114 t14 Precondition Failed
    PATCH $r/p If-Match="$t12"
    > {"data":{"x":5}}
    = 404/110 Not Found
    = {"id":"p","resource_name":"record"}
    """
