// Capsule+Remote.swift — removes the server, the account and the device from a capsule.

import TidemarkEvents
import TidemarkLog
import TidemarkViews

extension Capsule {
    /// The replacement for a server's scheme, host and port.
    package static let namelessAuthority = "https://redacted.invalid"

    /// The capsule without the address of the server, the account and the device.
    ///
    /// The adapter, its parameters and the paths of requests stay: without them no request can be
    /// made again. What users and servers wrote stays as well; redaction is for that.
    ///
    /// Digests that change with it are recorded again where today's rules make the recorded ones,
    /// and removed where that can't be known. All others stay, so that a difference in a replay
    /// still shows.
    package func withoutRemote() -> Capsule {
        guard provenance.namesRemote else { return self }
        var capsule = self
        capsule.provenance.namesRemote = false
        var names = RemoteNames(hosts: hosts)
        for index in capsule.base.rows.indices {
            capsule.base.rows[index] = names.removed(from: capsule.base.rows[index])
        }
        for index in commits.indices {
            let changed = names.removed(from: commits[index])
            if changed != commits[index] { capsule.commits[index] = changed }
        }
        // By now all names that occur in answers are known, too.
        let said = documents
        for index in answers.indices {
            let documents = said[answers[index].position] ?? []
            capsule.answers[index].answers = answers[index].answers.map {
                names.removed(from: $0, sparing: documents)
            }
        }
        return capsule
    }

    /// The documents that follow from each answer, by the answer's event.
    private var documents: [Position: [[UInt8]]] {
        let answered = Set(answers.map(\.position))
        var documents: [Position: [[UInt8]]] = [:]
        for commit in commits {
            var last: Position?
            for entry in commit.entries {
                if answered.contains(entry.position) { last = entry.position }
                guard let last, entry.event.kind == .serverUpserted else { continue }
                documents[last, default: []].append(entry.event.payload)
            }
        }
        return documents
    }

    /// The host names of all servers in the capsule; those with a port come first.
    private var hosts: [String] {
        var payloads: [[UInt8]] = []
        for row in base.rows where row.key == .store("model") {
            if let fact = try? StoreFactRow(parsing: row.value) { payloads.append(fact.payload) }
        }
        for entry in commits.flatMap(\.entries) where entry.event.kind == .modelRegistered {
            payloads.append(entry.event.payload)
        }
        var hosts: [String] = []
        for payload in payloads {
            guard let model = try? JSONValue(parsing: payload),
                let origin = model["remote"]?["origin"]?.stringValue
            else { continue }
            let authority = RemoteNames.authority(of: origin)
            let host = authority.firstRange(of: "://").map { authority[$0.upperBound...] }
            for name in [host, host.map(RemoteNames.name(of:))].compactMap(\.self)
            where !name.isEmpty && !hosts.contains(String(name)) { hosts.append(String(name)) }
        }
        return hosts.sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
    }
}

/// The names of a server, an account and a device.
private struct RemoteNames {
    private static let namelessHost = "redacted.invalid"
    private static let namelessText = "redacted"

    /// Host names; those with a port come first.
    let hosts: [String]
    /// Schemes, hosts and ports that were replaced.
    private var authorities: Set<String> = []

    init(hosts: [String]) { self.hosts = hosts }

    // MARK: Verbatim answers

    /// - Parameter documents: parts of the answer that stay as they are, as events hold them.
    func removed(from answer: KeptAnswer, sparing documents: [[UInt8]]) -> KeptAnswer {
        let known = authorities.sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
        func withoutAddresses(_ text: String) -> String {
            known.reduce(text) { Self.replacing($1, by: Capsule.namelessAuthority, in: $0) }
        }
        func nameless(_ text: String) -> String { self.nameless(text: withoutAddresses(text)) }
        var changed = answer.changed(sparing: documents) { bytes in
            guard let text = String(validating: bytes, as: UTF8.self) else { return bytes }
            let changed = hosts.reduce(withoutAddresses(text)) {
                Self.nameless(document: $0, of: $1)
            }
            return changed == text ? bytes : Array(changed.utf8)
        }
        changed.fields = answer.fields.map { Named($0.name, nameless($0.value)) }
        changed.detail = nameless(answer.detail)
        return changed
    }

    /// Scheme, host and port of an address.
    static func authority(of address: String) -> Substring {
        guard let scheme = address.firstRange(of: "://") else { return "" }
        let rest = address[scheme.upperBound...]
        return address[..<(rest.firstIndex(of: "/") ?? address.endIndex)]
    }

    /// A host without its port: an address of the sixth version stands in brackets.
    static func name(of host: Substring) -> Substring {
        guard host.first == "[", let end = host.firstIndex(of: "]") else {
            return host.prefix { $0 != ":" }
        }
        return host[...end]
    }

    // MARK: Rows and commits

    mutating func removed(from row: SnapshotRow) -> SnapshotRow {
        var row = row
        if let kind = Self.factKinds.first(where: { row.key == .store($0.name) })?.kind {
            guard var fact = try? StoreFactRow(parsing: row.value) else { return row }
            fact.payload = nameless(fact.payload, of: kind)
            row.value = fact.encoded
        } else if row.key.view == .syncRuns {
            guard var run = try? SyncRunRow(parsing: row.value) else { return row }
            run.summary = nameless(run.summary, of: .syncFinished)
            row.value = run.encoded
        } else if row.key.bytes.starts(with: Ledger.listed), row.key.tree == .ledger {
            guard var list = try? ListedRow(parsing: row.value), let next = list.state?.next else {
                return row
            }
            list.state?.next = nameless(address: next)
            row.value = list.encoded
        }
        return row
    }

    /// The facts of the view `store`, sorted by key.
    private static let factKinds: [(name: String, kind: EventKind)] = [
        ("model", .modelRegistered), ("opened", .storeOpened),
    ]

    mutating func removed(from commit: Capsule.Commit) -> Capsule.Commit {
        var changed = commit
        var views: Set<UInt32> = []
        for index in commit.entries.indices {
            let event = commit.entries[index].event
            let payload = nameless(event.payload, of: event.kind)
            changed.entries[index].event.payload = payload
            guard payload != event.payload else { continue }
            // The row of such an event depends on more than the event itself.
            if event.kind == .syncFinished { views.insert(View.syncRuns.rawValue) }
            if event.kind == .pullPage { views.insert(View.watermarks.rawValue) }
        }
        guard changed.entries != commit.entries else { return commit }
        // The fact rows of a commit depend on its events alone.
        if let before = Self.factDigest(commit), let after = Self.factDigest(changed),
            let index = commit.views.firstIndex(of: before)
        {
            changed.views[index] = after
        }
        changed.views.removeAll { views.contains($0.view) }
        return changed
    }

    /// The digest of a commit for the view `store`; nil where it changes nothing there.
    private static func factDigest(_ commit: Capsule.Commit) -> ViewDigest? {
        let changes: RowChanges = factKinds.compactMap { name, kind in
            let last = commit.entries.last {
                $0.event.kind == kind && $0.event.schemaVersion == 0
            }
            guard let last else { return nil }
            let fact = StoreFactRow(position: last.position, payload: last.event.payload)
            return (.store(name), fact.encoded)
        }
        return ViewDigest.of(changes).first
    }

    // MARK: Payloads

    /// The payload without names; the same bytes where it has none.
    private mutating func nameless(_ payload: [UInt8], of kind: EventKind) -> [UInt8] {
        guard var object = (try? JSONValue(parsing: payload))?.object else { return payload }
        let before = object
        switch kind.form {
        case .registration:
            guard var remote = object["remote"]?.object,
                let origin = remote["origin"]?.stringValue
            else { return payload }
            remote["origin"] = .string(nameless(address: origin))
            object["remote"] = .object(remote)
        case .members(let type): object = nameless(object, type.shapes)
        case .document, .patch, .nothing, nil: return payload
        }
        return object == before ? payload : JSONValue.object(object).encoded()
    }

    private mutating func nameless(
        _ object: JSONObject, _ shapes: [PayloadMemberShape]
    ) -> JSONObject {
        var object = object
        for (name, value) in object {
            switch (shapes.member(name)?.content, value) {
            case (.owner, .string): object[name] = .string(Self.namelessText)
            case (.headerField, .string(let text)):
                let isAddress = ["http://", "https://"].contains(where: text.lowercased().hasPrefix)
                object[name] = .string(
                    isAddress ? nameless(address: text) : nameless(text: text))
            case (.address, .string(let text)), (.cursor, .string(let text)):
                let isAddress = text.contains("://")
                object[name] = .string(
                    isAddress ? nameless(address: text) : nameless(text: text))
            case (.detail, .string(let text)), (.reason, .string(let text)):
                object[name] = .string(nameless(text: text))
            case (.object(let inner), .object(let nested)):
                object[name] = .object(nameless(nested, inner))
            default: break
            }
        }
        return object
    }

    private mutating func nameless(address: String) -> String {
        let authority = Self.authority(of: address)
        guard !authority.isEmpty else { return address }
        authorities.insert(String(authority))
        return Capsule.namelessAuthority + address[authority.endIndex...]
    }

    private func nameless(text: String) -> String {
        hosts.reduce(text) { $0.replacing($1, with: Self.namelessHost) }
    }

    /// A document without a host's name.
    ///
    /// A name of one word may be any word of it: that is the host only where an address begins.
    private static func nameless(document: String, of host: String) -> String {
        if host.contains(".") || host.contains(":") {
            return document.replacing(host, with: namelessHost)
        }
        return ["://", #":\/\/"#].reduce(document) {
            replacing($1 + host, by: $1 + namelessHost, in: $0)
        }
    }

    /// A text with another word in the place of an address, or of how one begins, unless the name
    /// goes on there.
    private static func replacing(_ name: String, by other: String, in text: String) -> String {
        var (result, rest) = ("", text[...])
        while let found = rest.firstRange(of: name) {
            let next = rest[found.upperBound...].first ?? " "
            let goesOn = next.isLetter || next.isNumber || "-._".contains(next)
            result += rest[..<found.lowerBound] + (goesOn ? name : other)
            rest = rest[found.upperBound...]
        }
        return result + rest
    }
}
