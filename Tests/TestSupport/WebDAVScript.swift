// WebDAVScript.swift — requests to a WebDAV server in one order, and the status of each answer.
//
// A line is METHOD PATH | FIELDS | BODY | STATUS, and where a real wsgidav 4.4.0 answers otherwise,
// its status and why. Paths are below the folder of the test, DEST stands for its whole address.
// Of a body, `find` lists properties to be asked for, `set` and `remove` change them.

/// One request of the script.
package struct WebDAVStep: Sendable, CustomStringConvertible {
    package let method: String
    /// Below the folder of the test, percent-encoded.
    package let path: String
    package let fields: [(name: String, value: String)]
    package let body: String?
    /// The status of the server in memory.
    package let status: Int
    /// The status of a real wsgidav.
    package let realStatus: Int
    package let description: String

    package static let all = script.split(separator: "\n").map { WebDAVStep(String($0)) }

    /// The fields, with the whole address of the test's folder where they name it.
    package func fields(below address: String) -> [(name: String, value: String)] {
        fields.map { field in
            let parts = field.value.split(separator: "DEST", omittingEmptySubsequences: false)
            return (field.name, parts.joined(separator: address))
        }
    }

    private init(_ line: String) {
        let parts = line.split(separator: "|", omittingEmptySubsequences: false).map { part in
            String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        let words = parts[0].split(separator: " ").map(String.init)
        method = words[0]
        path = words.count > 1 ? words[1] : ""
        fields = parts[1].split(separator: ";").map { field in
            let halves = field.split(separator: ":", maxSplits: 1).map(String.init)
            return (halves[0].filter { $0 != " " }, String(halves[1].drop { $0 == " " }))
        }
        body = parts[2].isEmpty ? nil : Self.body(parts[2])
        let statuses = parts[3].split(separator: " ").compactMap { Int($0) }
        status = statuses[0]
        realStatus = statuses.count > 1 ? statuses[1] : statuses[0]
        description = line
    }

    private static func body(_ text: String) -> String {
        let words = text.split(separator: " ").map(String.init)
        let space = #"xmlns:D="DAV:" xmlns:z="urn:z""#
        switch words[0] {
        case "find":
            let names = words.dropFirst().map { "<\($0)/>" }.joined()
            return "<D:propfind \(space)><D:prop>\(names)</D:prop></D:propfind>"
        case "set", "remove":
            let properties = words.dropFirst().map { word in
                let halves = word.split(separator: "=", maxSplits: 1).map(String.init)
                return "<\(halves[0])>\(halves.count > 1 ? halves[1] : "")</\(halves[0])>"
            }.joined()
            return "<D:propertyupdate \(space)><D:\(words[0])><D:prop>\(properties)</D:prop>"
                + "</D:\(words[0])></D:propertyupdate>"
        default: return text
        }
    }

    private static let script = """
        OPTIONS | | | 200
        MKCOL d | | | 201
        MKCOL d | | | 405
        MKCOL x/y | | | 409
        MKCOL e | | <a/> | 415
        PUT d/f | | hello world | 201
        PUT d/f | | hello again | 204
        PUT x/y | | n | 409
        PUT d | | n | 405
        PUT d/f/g | | n | 409
        MKCOL d/f/g | | | 409
        PUT d/f | If-None-Match: * | n | 412
        PUT d/f | If-Match: "w" | n | 412
        PUT d/f | If-Match: * | hello again | 204
        PUT d/n | If-None-Match: * | n | 201
        PUT d/m | If-Match: * | n | 412 201 wsgidav takes no notice of it where there is no file
        DELETE d/m | | | 404 204 so there is one
        PUT d/r | Content-Range: bytes 0-2/10 | abc | 400
        GET d/f | | | 200
        HEAD d/f | | | 200
        GET d/f | Range: bytes=0-4 | | 206
        GET d/f | Range: bytes=6- | | 206
        GET d/f | Range: bytes=-3 | | 206
        GET d/f | Range: bytes=-300 | | 206
        GET d/f | Range: bytes=4-300 | | 206
        GET d/f | Range: bytes=100- | | 416
        GET d/f | Range: bytes=0-1,3-4 | | 200 206 wsgidav gives the last of several parts
        GET d/f | Range: lines=0-1 | | 200 206 wsgidav takes any unit for bytes
        GET d/f | If-Match: "w" | | 412
        GET d/f | If-None-Match: * | | 304
        GET d/f | If-None-Match: "w" | | 200
        GET none | | | 404
        HEAD none | | | 404
        GET d/ | | | 405 403 wsgidav says so of folders
        PROPFIND | Depth: 0 | | 207
        PROPFIND | Depth: 1 | | 207
        PROPFIND | Depth: infinity | | 207
        PROPFIND | | | 207
        PROPFIND | Depth: 2 | | 400
        PROPFIND none | Depth: 0 | | 404
        PROPFIND d/f | Depth: 1 | | 207
        PROPFIND d | Depth: 1 | find D:resourcetype D:getetag z:a | 207
        PROPFIND d | Depth: 0 | <D:propfind xmlns:D="DAV:"><D:propname/></D:propfind> | 207
        PROPFIND d | Depth: 0 | <D:propfind xmlns:D="DAV:"><D:prop> | 400
        PROPFIND d | Depth: 0 | <a/> | 400
        PROPPATCH d/f | | set z:a=1 z:b=2 | 207
        PROPFIND d/f | Depth: 0 | find z:a z:b | 207
        PROPPATCH d/f | | set D:getetag=1 z:c=1 | 207
        PROPPATCH d/f | | remove z:a z:q | 207
        PROPPATCH none | | set z:a=1 | 404
        PROPPATCH d/f | | <D:propfind xmlns:D="DAV:"/> | 400
        PROPPATCH d/f | | | 400
        COPY d/f | Destination: DEST/d/g | | 201
        COPY d/f | Destination: DEST/d/g | | 204
        COPY d/f | Destination: DEST/d/g; Overwrite: F | | 412
        COPY d/f | Destination: DEST/d/h; Overwrite: F | | 201
        COPY d/f | Destination: DEST/x/g | | 409
        COPY d/f | | | 400
        COPY none | Destination: DEST/d/i | | 404
        COPY d/f | Destination: DEST/d/f | | 403
        COPY d | Destination: DEST/d/d | | 403
        COPY d | Destination: DEST/d2 | | 201
        COPY d | Destination: DEST/d3; Depth: 1 | | 400
        COPY d2 | Destination: DEST/d3 | | 201
        COPY d2 | Destination: DEST/d3 | | 204
        MOVE d/g | Destination: DEST/d/k | | 201
        MOVE d/k | Destination: DEST/d/f; Overwrite: F | | 412
        MOVE d/k | Destination: DEST/d/h; Overwrite: T | | 204
        MOVE d/h | Destination: DEST/d/n | | 204
        MOVE d | Destination: DEST/d/z | | 403
        MOVE d/f | Destination: DEST/d/f | | 403
        MOVE d/f | Destination: DEST/x/f | | 409
        MOVE none | Destination: DEST/d/q | | 404
        MOVE d/f | Destination: http://other.test/dav/q | | 502
        MOVE d/f | Destination: DEST/d/q; Overwrite: x | | 400
        MOVE d/f | Destination: DEST/d/q; If-Match: "w" | | 412
        MOVE d/f | Destination: DEST/d/q | | 201
        PROPFIND d/q | Depth: 0 | find z:b | 207
        MOVE d | Destination: DEST/d9; Depth: 0 | | 400
        MOVE d2 | Destination: DEST/d5; Overwrite: F | | 201
        MOVE d5 | Destination: DEST/d3; Overwrite: F | | 412
        MOVE d5 | Destination: DEST/d3 | | 204
        MKCOL d/a%20b%25%C3%A9 | | | 201
        PUT d/a%20b%25%C3%A9/%23%3F%26%2B | | odd | 201
        PUT d/e%CC%81 | | nfd | 201
        PUT d/%C3%A9 | | nfc | 201
        PUT d/Q | | upper | 201
        PROPFIND d | Depth: infinity | find D:resourcetype | 207
        GET d/a%20b%25%C3%A9/%23%3F%26%2B | | | 200
        GET d/e%CC%81 | | | 200
        GET d/%C3%A9 | | | 200
        GET d/Q | | | 200
        GET d/q | | | 200
        MOVE d/e%CC%81 | Destination: DEST/d/%F0%9F%8C%8A; Overwrite: F | | 201
        GET d/%F0%9F%8C%8A | | | 200
        MKCOL t | | | 201
        MKCOL t/u | | | 201
        PUT t/u/f | | 1 | 201
        DELETE t/u/f | If-Match: "w" | | 412
        DELETE t/u/f | If-Match: * | | 204
        DELETE t/u/f | | | 404
        PUT t/u/g | | 1 | 201
        DELETE t | Depth: infinity | | 204
        PROPFIND t | Depth: 0 | | 404
        MKCOL s/ | | | 201
        DELETE s | | | 204
        LOCK d/q | | | 405
        UNLOCK d/q | | | 405
        POST d | | | 405
        REPORT d | | <a/> | 405
        PATCH d/q | | a | 405
        PROPFIND | Depth: infinity | find D:resourcetype D:getcontentlength | 207
        """
}
