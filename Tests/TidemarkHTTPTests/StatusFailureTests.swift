// StatusFailureTests.swift — what an HTTP status means, before an adapter says otherwise.

import HTTPTypes
import Testing
import TidemarkSync

@Suite struct `a status` {
    @Test(arguments: [
        (100, "foreign"), (200, "malformed"), (204, "malformed"), (301, "foreign"),
        (304, "foreign"), (400, "client"), (401, "unauthorized"), (403, "forbidden"),
        (404, "client"), (408, "timeout"), (409, "client"), (410, "client"), (412, "client"),
        (422, "client"), (429, "tooManyRequests"), (500, "server"), (503, "server"),
        (511, "foreign"), (599, "server"), (600, "foreign"), (-1, "foreign"),
    ])
    func `is a failure of one kind`(status: Int, name: String) {
        #expect(SyncFailure(status: status).name == name)
    }

    @Test func `comes with the wait that the server asks for, and with its words`() {
        var fields: HTTPFields = [:]
        fields[.retryAfter] = "30"
        let busy = SyncFailure(status: 503, headerFields: fields, message: "busy")
        #expect(busy == .server(status: 503, retryAfterSeconds: 30))
        #expect(
            SyncFailure(status: 429, headerFields: fields)
                == .tooManyRequests(retryAfterSeconds: 30))
        #expect(SyncFailure(status: 400, message: "no") == .client(status: 400, "no"))
        #expect(SyncFailure(status: 200, message: "odd") == .malformed("status 200: odd"))
    }
}
