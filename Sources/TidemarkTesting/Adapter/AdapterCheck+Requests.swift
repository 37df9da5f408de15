// AdapterCheck+Requests.swift — the calls that a model asks for, and their requests.

import HTTPTypes
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

// MARK: Calls

extension AdapterCheck.Run {
    private static let now = Timestamp(milliseconds: 1_795_000_000_000)

    /// The calls that list a collection from the beginning.
    func lists(of collection: CollectionModel) -> [ServerCall] {
        if let feed = collection.feed {
            return [feed.order, feed.change].map { field in
                .feed(collection, FeedBlock(field, .upTo(FeedKey("")), limit: feed.block))
            }
        }
        if let lists = collection.lists {
            return lists.map { list in
                // What documents have is not known: any text is as good.
                let parameters = adapter.asked(
                    list.with(list.from.map { ($0.parameter, "0") }), of: collection, at: Self.now
                ) { _ in nil }
                return parameters.isEmpty
                    ? .list(collection, after: nil, page: nil)
                    : .listPart(collection, parameters, after: nil, page: nil)
            }
        }
        guard collection.window != nil else { return [.list(collection, after: nil, page: nil)] }
        let day: Int64 = 86_400_000
        return [
            .listWindow(
                collection, from: Timestamp(milliseconds: Self.now.milliseconds - day),
                to: Timestamp(milliseconds: Self.now.milliseconds + day), page: nil)
        ]
    }

    func reads(
        of samples: [AdapterCheck.Sample], _ collection: CollectionModel
    ) -> [ServerCall] {
        var calls = samples.map { ServerCall.read(collection, id: $0.key.id) }
        let together = min(adapter.traits.entitiesPerFetchMax, samples.count)
        if together > 1 {
            calls.append(.fetch(collection, ids: samples.prefix(together).map(\.key.id)))
        }
        if let rule = collection.placeholder?.refetch, rule.every != .zero, rule.together == nil,
            let first = samples.first
        {
            calls.append(.refetch(collection, ids: [first.key.id], together: nil))
        }
        return calls
    }

    /// The writes of an entity that the model allows.
    ///
    /// - Parameter id: another id than that of the sample.
    func writes(
        of sample: AdapterCheck.Sample, _ collection: CollectionModel, as id: String? = nil
    ) -> [ServerCall] {
        var calls: [ServerCall] = []
        guard let document = try? JSONDocument(parsing: sample.document) else { return [] }
        let isGiven = collection.ids == .client
        let revision = revisions[sample.key] ?? Revision(rawValue: [])
        let own = id ?? sample.key.id
        var body = sample.document
        if let id, document.rawValue(collection.idField) != nil {
            body = document.applying(
                set: [(collection.idField, JSONValue.string(id).encoded())])
        }
        if collection.pushes.contains(.create) {
            calls.append(
                isGiven
                    ? .create(collection, id: own, body: body)
                    : .create(
                        collection, id: Self.localID,
                        body: document.applying(set: [], unset: [collection.idField])))
        }
        if collection.pushes.contains(.update) {
            var changes: [UInt8] = []
            if adapter.traits.sendsChanges {
                changes = document.applying(set: [], unset: Array(collection.serverFields))
            }
            if collection.isByPath, let name = collection.tree?.name {
                // A move: what else is written of a file, its server says.
                let move: JSONObject = [name: .string("moved")]
                body = document.applying(set: [(name, JSONValue.string("moved").encoded())])
                changes = JSONValue.object(move).encoded()
            }
            calls.append(
                .update(
                    collection, id: own, body: body, changes: changes, revision: revision))
        }
        if collection.pushes.contains(.delete) {
            calls.append(.delete(collection, id: own, revision: revision))
        }
        for action in collection.actions where action.source == nil {
            calls.append(
                .perform(collection, id: own, action: action.name, parameters: [:]))
        }
        return calls
    }

    /// The id that an entity has here before the server names it.
    static let localID = "made-here"
}

// MARK: Requests

extension AdapterCheck.Run {
    /// The request of a call; nil, and a problem unless it may be so, where there is none.
    mutating func request(for call: ServerCall) -> ServerRequest? {
        if let refusal = adapter.refusalBeforeSending(of: call) {
            if refusal.message.isEmpty {
                tell(call, "it is refused without a word; say why, as people see it")
            } else if !call.isAction {
                tell(
                    call,
                    "the model allows it, and the adapter refuses it: \(refusal.message); take it "
                        + "out of pushes, give a sample that the server takes, or make a request")
            }
            return nil
        }
        let request: ServerRequest
        do throws(SyncFailure) { request = try adapter.request(for: call) } catch {
            tell(error, call)
            return nil
        }
        if (try? adapter.request(for: call)) != request {
            tell(call, "its request is another one each time; make it of the call alone")
        }
        checkForm(of: request, call)
        return request
    }

    private mutating func tell(_ failure: SyncFailure, _ call: ServerCall) {
        switch (call, failure) {
        // Where there is no read, lists tell.
        case (.read, .client), (.fetch, .client), (.refetch, .client): return
        case (_, _) where !call.isWriteOfOne:
            tell(call, "there is no request, so it is never made (\(failure)); make one")
        default:
            tell(call, "it waits for ever (\(failure)); throw SyncFailure.client to refuse it")
        }
    }

    private mutating func checkForm(of request: ServerRequest, _ call: ServerCall) {
        let isWritten = request.path.utf8.allSatisfy { byte in
            byte > 0x20 && byte < 0x7F && !"\"#<>\\^`{|}".utf8.contains(byte)
        }
        if !request.path.hasPrefix("/") || request.path.hasPrefix("//") || !isWritten {
            tell(
                call,
                "\"\(request.path)\" is no path below the remote's origin; begin with one slash, "
                    + "and percent-encode: ServerRequest.percentEncoded")
        }
        let secret: Set<HTTPField.Name> = [.authorization, .proxyAuthorization, .cookie]
        let fields = request.headers.filter {
            secret.contains($0.name) || Self.secrets.contains($0.name.canonicalName)
        }.map(\.name.rawName)
        let query = request.path.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        let parameters = query.split(separator: "&").map { $0.prefix { $0 != "=" } }
            .filter { Self.secrets.contains($0.lowercased()) }.map { String($0) }
        for name in fields + parameters {
            tell(
                call,
                "\(name) looks like credentials, which the log keeps here; give them to the "
                    + "engine, as Credentials.field")
        }
    }

    /// Names of header fields and parameters that hold credentials.
    private static let secrets: Set<String> = [
        "access_token", "api_key", "apikey", "api-key", "auth_token", "password", "secret",
        "x-api-key", "x-auth-token",
    ]

    // MARK: Ids

    /// Ids that a path must not break.
    private static let oddIDs = [
        "a/b", "a?b", "a#b", "a%2Fb", "a b", "a\u{FC}b", ".", "..",
    ]

    /// Whether ids come back whole out of paths.
    mutating func checkIDs(_ sample: AdapterCheck.Sample, _ collection: CollectionModel) {
        // Numbers need no escape, and the server writes them.
        guard collection.ids != .serverNumber else { return }
        let plain = "plain-7"
        let isMadeHere = collection.ids == .client && collection.pushes.contains(.create)
        for id in Self.oddIDs {
            if collection.isByPath, id.contains("/") { continue }
            // The server gives such ids as little as it takes them.
            if URLPath.isPlace(id), !isMadeHere { continue }
            let calls = self.calls(of: sample, collection, as: id)
            // What can't be made here is not there.
            if isMadeHere, let creation = calls.first(where: \.isCreation),
                written(creation) == nil
            {
                continue
            }
            let usual = self.calls(of: sample, collection, as: plain)
            for (usual, call) in zip(usual, calls) {
                guard let wanted = written(usual), let path = written(call) else { continue }
                checkPath(path, of: call, id, wanted, plain)
            }
        }
    }

    private func calls(
        of sample: AdapterCheck.Sample, _ collection: CollectionModel, as id: String
    ) -> [ServerCall] {
        writes(of: sample, collection, as: id) + [.read(collection, id: id)]
    }

    /// The path of a request; nil where there is none.
    private func written(_ call: ServerCall) -> String? {
        guard adapter.refusalBeforeSending(of: call) == nil else { return nil }
        return try? adapter.request(for: call).path
    }

    private mutating func checkPath(
        _ path: String, of call: ServerCall, _ id: String, _ usual: String, _ plain: String
    ) {
        let parts = Self.parts(of: path)
        let wanted = Self.parts(of: usual).map { part in
            part.map { $0.replacing(plain, with: id) }
        }
        let isPlace = parts[0].contains { URLPath.isPlace($0) }
        let isBroken = !path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }
        if isPlace {
            tell(
                call,
                "of the id \"\(id)\" the path leads elsewhere, \(path), however it is escaped; "
                    + "refuse it in refusal(of:)")
        } else if isBroken || parts != wanted {
            tell(
                call,
                "the id \"\(id)\" does not come back out of its path, \(path); write it by "
                    + "ServerRequest.percentEncoded")
        }
    }

    /// The decoded parts of a path, and of its query.
    private static func parts(of path: String) -> [[String]] {
        let halves = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return [
            decoded(halves[0], by: ["/"]),
            halves.count > 1 ? decoded(halves[1], by: ["&", "="]) : [],
        ]
    }

    private static func decoded(_ text: Substring, by marks: Set<Character>) -> [String] {
        text.split(omittingEmptySubsequences: false) { marks.contains($0) }
            .map { String(decoding: URLPath.unescape($0), as: UTF8.self) }
    }
}

extension ServerCall {
    fileprivate var isCreation: Bool { if case .create = self { true } else { false } }
}
