// WebDAVCopyTests.swift — what is asked of a WebDAV server that is to copy, and what it answers.

import HTTPTypes
import TestSupport
import Testing
import TidemarkEvents
import TidemarkSync

@testable import TidemarkHTTP

@Suite struct `copies on a WebDAV server` {
    private let dav: WebDAVCase = {
        var dav = WebDAVCase()
        dav.files.actions = [ActionRule("copy", source: "of")]
        return dav
    }()

    private func copy(
        _ kind: String, to path: String = "c/d é", _ action: String = "copy",
        of source: String = "a/b",
        _ parameter: String = "of"
    ) -> ServerCall {
        .perform(
            dav.files, id: path, action: action, parameters: [parameter: source],
            document: Array(#"{"kind":"\#(kind)"}"#.utf8))
    }

    private func line(_ call: ServerCall) throws -> String {
        let request = try dav.request(call)
        let fields = request.headers.map { " \($0.name.rawName)=\($0.value)" }
        return "\(request.method.rawValue) \(request.path)\(fields.joined())"
    }

    @Test func `name their target as a whole address, and overwrite nothing`() throws {
        let target = "Destination=https://dav.test:8443/base/dav/r%20c/c/d%20%C3%A9"
        #expect(
            try line(copy("file")) == "COPY /dav/r%20c/a/b \(target) Overwrite=F")
        #expect(
            try line(copy("folder")) == "COPY /dav/r%20c/a/b/ \(target)/ Overwrite=F")
    }

    @Test func `are the only action that there is`() {
        for call in [
            copy("file", "archive"), copy("file", of: ""), copy("file", "copy", of: "a", "from"),
            ServerCall.perform(dav.files, id: "a", action: "copy", parameters: ["of": "b"]),
        ] {
            #expect(dav.adapter.refusal(of: call)?.message.contains("\"copy\"") == true)
            #expect(throws: SyncFailure.self) { try dav.request(call) }
        }
        #expect(dav.adapter.refusal(of: copy("file")) == nil)
        for path in ["", "..", "a//b"] {
            #expect(dav.adapter.refusal(of: copy("file", to: path)) != nil, "\(path)")
        }
    }

    @Test func `are there without a version until they are listed`() {
        let page = Wsgidav.page("201 Created", "201 Created")
        #expect(dav.answer(to: copy("file"), 201, page) == .stored(id: "c/d é", nil))
        // A folder is known as one by its version.
        #expect(
            dav.answer(to: copy("folder"), 201, Apache.moved)
                == .stored(id: "c/d é", Revision("/")))
        #expect(dav.effect(copy("file"), 201, page) == .done)
    }

    @Test func `are refused where nothing is copied, and stop nothing else`() {
        for (status, words) in [
            (404, "what it is a copy of is not there"), (409, "would lie in is not there"),
            (412, "another one of this name"), (403, "does not allow"), (507, "no space left"),
        ] {
            guard case .refused(let refusal) = dav.answer(to: copy("file"), status) else {
                Issue.record("\(status)")
                continue
            }
            #expect(refusal.status == status && refusal.message.contains(words), "\(status)")
            #expect(dav.effect(copy("file"), status) == .nothing)
        }
    }

    @Test func `of which a part is missing are refused`() {
        guard case .refused(let refusal) = dav.answer(to: copy("folder"), 207) else {
            Issue.record("it is taken for copied")
            return
        }
        #expect(refusal.message.contains("a part of it could not be copied"))
    }

    @Test(arguments: [500, 502, 504])
    func `of which nobody knows what became of them are looked for`(_ status: Int) {
        guard case .failure = dav.answer(to: copy("folder"), status) else {
            Issue.record("\(status)")
            return
        }
        #expect(dav.effect(copy("folder"), status) == .unknown)
    }
}
