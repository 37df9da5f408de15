// ServerConformanceLists.swift — requests and what Kinto 26.5 answers: lists, after the objects.

let conformanceOfLists = """
    GET $r
    = 200 t14
    = {"id":"made","last_modified":"t13","x":6}
    = {"id":"b","last_modified":"t11","y":null,"z":{"l":2}}
    = {"deep":{"y":[1,null,"é"]},"id":"a","last_modified":"t4","x":1}
    GET $r?_since=0
    = 200 t14
    = {"deleted":true,"id":"p","last_modified":"t14"}
    = {"id":"made","last_modified":"t13","x":6}
    = {"id":"b","last_modified":"t11","y":null,"z":{"l":2}}
    = {"deep":{"y":[1,null,"é"]},"id":"a","last_modified":"t4","x":1}
    GET $r?_since=%22$t11%22
    = 200 t14
    = {"deleted":true,"id":"p","last_modified":"t14"}
    = {"id":"made","last_modified":"t13","x":6}
    GET $r?_since=$t14
    = 200 t14
    GET $r?gt_last_modified=$t13
    = 200 t14
    = {"deleted":true,"id":"p","last_modified":"t14"}
    GET $r?_since=0 If-None-Match="$t14"
    = 304 t14
    GET $r If-Match="$t14"
    = 200 t14
    = {"id":"made","last_modified":"t13","x":6}
    = {"id":"b","last_modified":"t11","y":null,"z":{"l":2}}
    = {"deep":{"y":[1,null,"é"]},"id":"a","last_modified":"t4","x":1}
    GET $r If-Match="$t13"
    = 412/114 t14 Precondition Failed
    HEAD $r
    = 200 t14 total=3
    HEAD $r?_since=$t4
    = 200 t14 total=2
    HEAD $r/a
    = 200 t4
    GET $r?_since=words
    = 400/107 Invalid parameters
    = invalid querystring._since
    GET $r?_since=
    = 400/107 Invalid parameters
    = invalid querystring._since
    GET $r?_since=-1
    = 400/107 Invalid parameters
    = invalid querystring._since
    GET $r?_since=99999999999999
    = 400/107 Invalid parameters
    = invalid querystring._since
    GET $r?_limit=words
    = 400/107 Invalid parameters
    = invalid querystring._limit
    GET $r?_token=words
    = 400/107 Invalid parameters
    = invalid querystring.
    GET $r?_limit=2
    = 200 t14 next
    = {"id":"made","last_modified":"t13","x":6}
    = {"id":"b","last_modified":"t11","y":null,"z":{"l":2}}
    GET $next
    = 200 t14
    = {"deep":{"y":[1,null,"é"]},"id":"a","last_modified":"t4","x":1}
    GET $r?_limit=2&_since=0
    = 200 t14 next
    = {"deleted":true,"id":"p","last_modified":"t14"}
    = {"id":"made","last_modified":"t13","x":6}
    GET $next
    = 200 t14
    = {"id":"b","last_modified":"t11","y":null,"z":{"l":2}}
    = {"deep":{"y":[1,null,"é"]},"id":"a","last_modified":"t4","x":1}
    GET $r?_limit=4&_since=0
    = 200 t14
    = {"deleted":true,"id":"p","last_modified":"t14"}
    = {"id":"made","last_modified":"t13","x":6}
    = {"id":"b","last_modified":"t11","y":null,"z":{"l":2}}
    = {"deep":{"y":[1,null,"é"]},"id":"a","last_modified":"t4","x":1}
    PUT $r/p If-None-Match=*
    > {"data":{"x":7}}
    = 201 t15 perms
    = {"id":"p","last_modified":"t15","x":7}
    GET $r?_since=$t14
    = 200 t15
    = {"id":"p","last_modified":"t15","x":7}
    POST $r/p
    = 405/115 Method Not Allowed allow
    PUT $r
    = 405/115 Method Not Allowed allow
    PUT $r/past
    > {"data":{"last_modified":5}}
    = 201 t16 perms
    = {"id":"past","last_modified":"t16"}
    GET $r?_since=$t4
    = 200 t15
    = {"id":"p","last_modified":"t15","x":7}
    = {"id":"made","last_modified":"t13","x":6}
    = {"id":"b","last_modified":"t11","y":null,"z":{"l":2}}
    PUT $r/future
    > {"data":{"last_modified":2000000000000}}
    = 201 t17 perms
    = {"id":"future","last_modified":"t17"}
    PUT $r/after
    = 201 t18 perms
    = {"id":"after","last_modified":"t18"}
    GET $r?_limit=2
    = 200 t18 next
    = {"id":"after","last_modified":"t18"}
    = {"id":"future","last_modified":"t17"}
    DELETE $c
    = 200 t19
    = {"deleted":true,"id":"c","last_modified":"t19"}
    GET $r
    = 404/111 Not Found
    = {"id":"c","resource_name":"collection"}
    PUT $c
    = 201 t20 perms
    = {"id":"c","last_modified":"t20"}
    GET $r?_since=0
    = 200 t21
    DELETE $b
    = 200 t22
    = {"deleted":true,"id":"conformance","last_modified":"t22"}
    GET $r
    = 403/121 Forbidden
    """
