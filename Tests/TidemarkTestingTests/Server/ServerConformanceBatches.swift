// ServerConformanceBatches.swift — requests and what Kinto 26.5 answers: preconditions of POST and
// of lists, and batches: what their defaults add, what their parts inherit, and that nothing is
// done where one part is not valid.

let conformanceOfBatches = #"""
    PUT $b
    = 201 t56 perms
    = {"id":"conformance","last_modified":"t56"}
    PUT $c
    = 201 t57 perms
    = {"id":"c","last_modified":"t57"}
    PUT $r/a
    > {"data":{"x":1}}
    = 201 t58 perms
    = {"id":"a","last_modified":"t58","x":1}
    POST $r If-None-Match=*
    > {"data":{"id":"a","x":2}}
    = 412/114 t58 Precondition Failed
    = {"existing":{"id":"a","last_modified":"t58","x":1}}
    POST $r If-Match="1"
    > {"data":{"id":"a","x":2}}
    = 412/114 t58 Precondition Failed
    = {"existing":{"id":"a","last_modified":"t58","x":1}}
    POST $r If-Match=*
    > {"data":{"id":"a","x":2}}
    = 200 t58 perms
    = {"id":"a","last_modified":"t58","x":1}
    POST $r If-Match=*
    > {"data":{"id":"q","x":2}}
    = 412/114 t58 Precondition Failed
    POST $r If-Match="1"
    > {"data":{"x":2}}
    = 412/114 t58 Precondition Failed
    POST $r If-Match=1
    > {"data":{"id":"q","x":2}}
    = 400/107 Invalid parameters
    = invalid header.If-Match
    POST $r If-None-Match=*
    > {"data":{"id":"q","x":2}}
    = 201 t59 perms
    = {"id":"q","last_modified":"t59","x":2}
    GET $r If-None-Match=*
    = 412/114 t59 Precondition Failed
    GET $r/a If-None-Match=*
    = 412/114 t58 Precondition Failed
    = {"existing":{"id":"a","last_modified":"t58","x":1}}
    PUT $r/a Content-Type=application/json-patch+json
    > {"data":{"x":2}}
    = 415/107 Invalid parameters
    = invalid header.Content-Type
    POST /v1/batch
    > {"requests":[{"path":"$r/a"},{"path":"$r/none"},{"path":"$r/a%20b"},{"path":"/nothing"}]}
    = 200
    = part $r/a 200 t58 perms
    = {"id":"a","last_modified":"t58","x":1}
    = part $r/none 404/110 Not Found
    = {"id":"none","resource_name":"record"}
    = part $r/a b 400/107 Invalid parameters
    = invalid path.
    = part /v1/nothing 404/111 Not Found
    POST /v1/batch
    > {"requests":[{"method":"PUT","path":"$r/b","body":{"data":{"y":1}},
    > "headers":{"If-None-Match":"*"}},
    > {"method":"PUT","path":"$r/b","body":{"data":{"y":2}},"headers":{"If-None-Match":"*"}},
    > {"method":"DELETE","path":"$r/q"},
    > {"method":"POST","path":"$r","body":{"data":{"id":"a"}},"headers":{"If-None-Match":"*"}}]}
    = 200
    = part $r/b 201 t60 perms
    = {"id":"b","last_modified":"t60","y":1}
    = part $r/b 412/114 t60 Precondition Failed
    = {"existing":{"id":"b","last_modified":"t60","y":1}}
    = part $r/q 200 t61
    = {"deleted":true,"id":"q","last_modified":"t61"}
    = part $r 412/114 t58 Precondition Failed
    = {"existing":{"id":"a","last_modified":"t58","x":1}}
    POST /v1/batch
    > {"requests":[]}
    = 200
    POST /v1/batch
    > {"requests":[{"path":"$r/a","method":"HEAD"},{"path":"$r/a","method":"TRACE"},
    > {"path":"$r/a","method":null}]}
    = 200
    = part $r/a 200 t58
    = part $r/a 405/115 Method Not Allowed
    = part $r/a 200 t58 perms
    = {"id":"a","last_modified":"t58","x":1}
    POST /v1/batch
    > {"defaults":{"method":"PUT","body":{"data":{"d":1,"e":{"f":1}}}},
    > "requests":[{"path":"$r/d1"},{"path":"$r/d2","body":{"data":{"d":2,"e":{"g":2}}}},
    > {"path":"$r/d3","method":"GET"}]}
    = 200
    = part $r/d1 201 t62 perms
    = {"d":1,"e":{"f":1},"id":"d1","last_modified":"t62"}
    = part $r/d2 201 t63 perms
    = {"d":2,"e":{"f":1,"g":2},"id":"d2","last_modified":"t63"}
    = part $r/d3 404/110 Not Found
    = {"id":"d3","resource_name":"record"}
    POST /v1/batch
    > {"defaults":{"path":"$r/d1"},"requests":[{},{"path":"$r/d2"}]}
    = 200
    = part $r/d1 200 t62 perms
    = {"d":1,"e":{"f":1},"id":"d1","last_modified":"t62"}
    = part $r/d2 200 t63 perms
    = {"d":2,"e":{"f":1,"g":2},"id":"d2","last_modified":"t63"}
    POST /v1/batch
    > {"defaults":{"method":"PUT","headers":{"If-None-Match":"*"}},"requests":[{"path":"$r/d1"},
    > {"path":"$r/d4","headers":{"Accept":"*/*"}},
    > {"path":"$r/d1","headers":{"If-None-Match":"\"1\""}}]}
    = 200
    = part $r/d1 412/114 t62 Precondition Failed
    = {"existing":{"d":1,"e":{"f":1},"id":"d1","last_modified":"t62"}}
    = part $r/d4 201 t64 perms
    = {"id":"d4","last_modified":"t64"}
    = part $r/d1 200 t65 perms
    = {"d":1,"e":{"f":1},"id":"d1","last_modified":"t65"}
    POST /v1/batch If-None-Match=*
    > {"requests":[{"path":"$r/d1"},{"method":"PUT","path":"$r/d5"},
    > {"path":"$r/d2","headers":{"If-None-Match":"\"1\""}}]}
    = 200
    = part $r/d1 412/114 t65 Precondition Failed
    = {"existing":{"d":1,"e":{"f":1},"id":"d1","last_modified":"t65"}}
    = part $r/d5 201 t66 perms
    = {"id":"d5","last_modified":"t66"}
    = part $r/d2 200 t63 perms
    = {"d":2,"e":{"f":1,"g":2},"id":"d2","last_modified":"t63"}
    POST /v1/batch Authorization=none
    > {"requests":[{"path":"$r/d1"},
    > {"path":"$r/d1","headers":{"Authorization":"Basic Y29uZm9ybTpwdw=="}}]}
    = 200
    = part $r/d1 401/104 Unauthorized
    = part $r/d1 200 t65 perms
    = {"d":1,"e":{"f":1},"id":"d1","last_modified":"t65"}
    POST /v1/batch
    > {"requests":[{"method":"PUT","path":"$r/e","headers":{"Content-Type":"text/plain"}},
    > {"method":"PUT","path":"$r/e","headers":{"Content-Type":"text/plain"},"body":{"data":{}}}]}
    = 200
    = part $r/e 415/107 Invalid parameters
    = invalid header.Content-Type
    = part $r/e 201 t67 perms
    = {"id":"e","last_modified":"t67"}
    POST /v1/batch
    > {"requests":[{"method":"PUT","path":"$r/z"},{"method":"PUT","path":"$r/z","body":[1]}]}
    = 400/107 Invalid parameters
    = invalid body.requests.1.body
    POST /v1/batch
    > {"requests":[{"method":"PUT","path":"$r/z"},{"method":"PUT","path":"$r/z","body":null}]}
    = 400/107 Invalid parameters
    = invalid body.requests.1.body
    POST /v1/batch
    > {"requests":[{"method":"PUT","path":"$r/z"},{"method":"PUT"}]}
    = 400/107 Invalid parameters
    = invalid body.requests.1.path
    POST /v1/batch
    > {"requests":[{"method":"PUT","path":"$r/z"},{"path":"records"}]}
    = 400/107 Invalid parameters
    = invalid body.requests.1.path
    POST /v1/batch
    > {"requests":[{"method":"PUT","path":"$r/z"},{"path":"$r/a","method":"get"}]}
    = 400/107 Invalid parameters
    = invalid body.requests.1.method
    POST /v1/batch
    > {"requests":[{"method":"PUT","path":"$r/z"},{"path":"$r/a","headers":{"If-Match":1}}]}
    = 400/107 Invalid parameters
    = invalid body.requests.1.headers
    POST /v1/batch
    > {"requests":[{"method":"PUT","path":"$r/z"},{"path":"$r/a","headers":[]}]}
    = 400/107 Invalid parameters
    = invalid body.requests.1.headers
    POST /v1/batch
    > {"requests":[{"method":"PUT","path":"$r/z"},{"path":"$r/a","query":{}}]}
    = 400/107 Invalid parameters
    = invalid body.requests.1
    POST /v1/batch
    > {"requests":[{"method":"PUT","path":"$r/z"},7]}
    = 400/107 Invalid parameters
    = invalid body.requests.1
    POST /v1/batch
    > {"requests":[{"method":"PUT","path":"$r/z"},
    > {"method":"POST","path":"/batch","body":{"requests":[]}}]}
    = 400/107 Invalid parameters
    = invalid body.requests
    POST /v1/batch
    > {"requests":[{"method":"PUT","path":"$r/z"}],"more":1}
    = 400/107 Invalid parameters
    = invalid body.
    POST /v1/batch
    > {"defaults":[],"requests":[{"method":"PUT","path":"$r/z"}]}
    = 400/107 Invalid parameters
    = invalid body.defaults
    POST /v1/batch
    > {"defaults":{"method":"OPTIONS"},"requests":[{"method":"PUT","path":"$r/z"}]}
    = 400/107 Invalid parameters
    = invalid body.defaults.method
    POST /v1/batch
    > {"defaults":{"body":{"data":{}}},"requests":[{"method":"PUT","path":"$r/z","body":3}]}
    = 500/999 Internal Server Error
    POST /v1/batch
    > {"requests":{}}
    = 400/107 Invalid parameters
    = invalid body.requests
    POST /v1/batch
    > {}
    = 400/107 Invalid parameters
    = invalid body.requests
    POST /v1/batch
    > [1]
    = 500/999 Internal Server Error
    POST /v1/batch Content-Type=text/plain
    > {"requests":[{"method":"PUT","path":"$r/z"}]}
    = 415/107 Invalid parameters
    = invalid header.Content-Type
    GET $r/z
    = 404/110 Not Found
    = {"id":"z","resource_name":"record"}
    DELETE $b
    = 200 t68
    = {"deleted":true,"id":"conformance","last_modified":"t68"}
    """#
