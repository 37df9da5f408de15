// Capsule+Remote.swift — removes the server, the account and the device from a capsule.

import TidemarkEvents
import TidemarkLog
import TidemarkViews

extension Capsule {
    /// The replacement for a server's scheme, host and port.
    package static let namelessAuthority = "https://" + namelessHost
    /// The replacement for a server's host.
    package static let namelessHost = "redacted.invalid"

    /// The capsule without the address of the server, the account and the device.
    ///
    /// The adapter, its parameters and the paths of requests stay: without them no request can be
    /// made again. What users and servers wrote stays as well; redaction is for that.
    ///
    /// The same names are taken out of cursors, addresses and answers. Where anything else holds
    /// one of them, a document or an id, none is taken out of these: the answers would bring other
    /// entities than the log has.
    ///
    /// Digests that change with it are recorded again where today's rules make the recorded ones,
    /// and removed where that can't be known. All others stay, so that a difference in a replay
    /// still shows.
    package func withoutRemote() -> Capsule {
        guard provenance.namesRemote else { return self }
        var names = RemoteNames(hosts: hosts)
        // All names are known once all addresses were looked at.
        names.isSparing = true
        _ = names.removed(from: self)
        names.isSparing = false
        var capsule = names.removed(from: self)
        if names.areSaid(in: capsule) {
            names.isSparing = true
            capsule = names.removed(from: self)
        }
        capsule.provenance.namesRemote = false
        return capsule
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
    private static let namelessText = "redacted"

    /// Host names; those with a port come first.
    let hosts: [String]
    /// Schemes, hosts and ports of addresses.
    private var authorities: Set<String> = []
    /// Accounts and devices, by member, in the order in which they come: what follows from another
    /// one follows in the capsule, too.
    private var owners: [String: [String]] = [:]
    /// What a text has somewhere that holds one of them.
    private var marks: [[UInt8]]
    /// Whether the names stay in cursors, addresses and answers.
    var isSparing = false

    init(hosts: [String]) {
        self.hosts = hosts
        marks = hosts.map { Array($0.utf8) }
    }

    private mutating func note(_ authority: Substring) {
        let host = authority.firstRange(of: "://").map { authority[$0.upperBound...] } ?? ""
        let name = Self.name(of: host)
        guard !name.isEmpty, authorities.insert(String(authority)).inserted else { return }
        marks.append(Array(name.utf8))
    }

    mutating func removed(from capsule: Capsule) -> Capsule {
        var changed = capsule
        for index in capsule.base.rows.indices {
            changed.base.rows[index] = removed(from: capsule.base.rows[index])
        }
        for index in capsule.commits.indices {
            changed.commits[index] = removed(from: capsule.commits[index])
        }
        for index in capsule.answers.indices {
            changed.answers[index].answers = capsule.answers[index].answers.map {
                [names = self] in names.removed(from: $0)
            }
        }
        return changed
    }

    /// Whether anything but an answer holds one of the names.
    func areSaid(in capsule: Capsule) -> Bool {
        let names = (authorities + hosts).flatMap { name in
            Self.isWord(name) ? Self.beginnings.map { $0 + name } : [name, Self.escaped(name)]
        }.map { Array($0.utf8) }
        func isSaid(_ bytes: [UInt8]) -> Bool {
            guard marks.contains(where: bytes.hold), names.contains(where: bytes.hold) else {
                return false
            }
            // A longer name may begin like one.
            guard let text = String(validating: bytes, as: UTF8.self) else { return true }
            return nameless(text) != text
        }
        return capsule.bodies.contains(where: isSaid)
            || capsule.base.rows.contains { isSaid($0.key.bytes) || isSaid($0.value) }
            || capsule.commits.contains { commit in
                commit.entries.contains { entry in
                    isSaid(entry.event.payload) || isSaid(entry.event.revision?.rawValue ?? [])
                        || isSaid(Array((entry.event.entity ?? "").utf8))
                }
            }
    }

    // MARK: Verbatim answers

    private func removed(from answer: KeptAnswer) -> KeptAnswer {
        var changed = answer
        let body = answer.body
        if !isSparing, marks.contains(where: body.hold),
            let text = String(validating: body, as: UTF8.self)
        {
            changed.body = Array(nameless(text).utf8)
        }
        changed.fields = answer.fields.map { Named($0.name, nameless($0.value)) }
        changed.detail = nameless(detail: answer.detail, hosts)
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
            guard var list = try? ListedRow(parsing: row.value), let state = list.state else {
                return row
            }
            list.state?.next = state.next.map { nameless(address: $0) }
            list.state?.cursor = state.cursor.map { nameless(cursor: $0) }
            list.state?.after = state.after.map { nameless(cursor: $0) }
            row.value = list.encoded
        } else if row.key.bytes.starts(with: Ledger.watermarks), row.key.tree == .ledger {
            guard var mark = try? WatermarkRow(parsing: row.value), let cursor = mark.cursor else {
                return row
            }
            mark.cursor = nameless(cursor: cursor)
            row.value = mark.encoded
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
            if event.kind == .pullCompleted {
                changed.entries[index].event.revision = event.revision.map { nameless(cursor: $0) }
            }
            guard changed.entries[index].event != event else { continue }
            // The row of such an event depends on more than the event itself.
            if event.kind == .syncFinished { views.insert(View.syncRuns.rawValue) }
            if event.kind == .pullPage || event.kind == .pullCompleted {
                views.insert(View.watermarks.rawValue)
            }
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
            let authority = Self.authority(of: origin)
            guard !authority.isEmpty else { return payload }
            note(authority)
            remote["origin"] = .string(
                Capsule.namelessAuthority + origin[authority.endIndex...])
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
            case (.owner, .string(let text)): object[name] = .string(nameless(owner: text, name))
            case (.headerField, .string(let text)), (.address, .string(let text)):
                object[name] = .string(nameless(address: text))
            case (.cursor, .string(let text)): object[name] = .string(nameless(text))
            case (.detail, .string(let text)), (.reason, .string(let text)):
                object[name] = .string(nameless(words: text))
            case (.object(let inner), .object(let nested)):
                object[name] = .object(nameless(nested, inner))
            default: break
            }
        }
        return object
    }

    /// The word that stands for an account or a device; for each another one.
    private mutating func nameless(owner: String, _ member: String) -> String {
        var known = owners[member, default: []]
        let place = known.firstIndex { ExactString($0) == ExactString(owner) } ?? known.count
        if place == known.count { known.append(owner) }
        owners[member] = known
        return place == 0 ? Self.namelessText : "\(Self.namelessText) \(place + 1)"
    }

    /// A text that may be an address, whose name is one of the server's.
    private mutating func nameless(address text: String) -> String {
        if ["http://", "https://"].contains(where: text.lowercased().hasPrefix) {
            note(Self.authority(of: text))
        }
        return nameless(text)
    }

    private func nameless(cursor: Revision) -> Revision {
        guard let text = String(validating: cursor.rawValue, as: UTF8.self) else { return cursor }
        return Revision(nameless(text))
    }

    /// A text without the server's names, the same in an answer, a cursor and an address.
    ///
    /// A name of one word may be any word of it: that is the host only where an address begins.
    private func nameless(_ text: String) -> String {
        if isSparing { return text }
        let known = authorities.sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
        let whole = known.reduce(text) { text, authority in
            let plain = Self.replacing(authority, by: Capsule.namelessAuthority, in: text)
            return Self.replacing(
                Self.escaped(authority), by: Self.escaped(Capsule.namelessAuthority), in: plain)
        }
        return hosts.reduce(whole) { text, host in
            guard Self.isWord(host) else { return text.replacing(host, with: Capsule.namelessHost) }
            return Self.beginnings.reduce(text) {
                Self.replacing($1 + host, by: $1 + Capsule.namelessHost, in: $0)
            }
        }
    }

    /// What Tidemark says, without the server's names: what the system says of the server stands
    /// in parentheses at its end.
    private func nameless(words text: String) -> String {
        // A host of one word may be any word of a sentence.
        let names = hosts.filter { !Self.isWord($0) }
        guard text.hasSuffix(")"), let start = text.firstRange(of: " (")?.upperBound else {
            return nameless(detail: text, names)
        }
        return nameless(detail: String(text[..<start]), names)
            + nameless(detail: String(text[start...]), hosts)
    }

    /// What the system says, without the server's addresses, nor hosts wherever they stand.
    private func nameless(detail text: String, _ hosts: [String]) -> String {
        var names = self
        names.isSparing = false
        let plain = hosts.reduce(names.nameless(text)) {
            $0.replacing($1, with: Capsule.namelessHost)
        }
        return Self.withoutPlaces(plain)
    }

    /// A text without other servers, as the one that a redirect leads to, and without addresses and
    /// ports in numbers, as clients write them beside a host: `[IPv4]host/192.0.2.1:443`,
    /// `host port 443`.
    private static func withoutPlaces(_ text: String) -> String {
        let own = replacing(after: "://", by: Capsule.namelessHost, in: text) {
            !" ,)/".contains($0)
        }
        let plain = ["[IPv4]", "[IPv6]"].reduce(own) {
            replacing(after: $1, by: Capsule.namelessHost, in: $0) { !" ,)".contains($0) }
        }
        return [" port ", ", port "].reduce(plain) {
            replacing(after: Capsule.namelessHost + $1, by: "0", in: $0) { $0.isNumber }
        }
    }

    /// A text with another word in the place of what follows some words, as far as it goes.
    private static func replacing(
        after words: String, by other: String, in text: String,
        asFarAs isPart: (Character) -> Bool
    ) -> String {
        var (result, rest) = ("", text[...])
        while let found = rest.firstRange(of: words) {
            result += rest[..<found.upperBound]
            rest = rest[found.upperBound...]
            let next = rest.drop(while: isPart)
            if next.startIndex > rest.startIndex { result += other }
            rest = next
        }
        return result + rest
    }

    private static func isWord(_ name: String) -> Bool {
        !name.contains(".") && !name.contains(":")
    }

    /// What stands before the host in an address, also as JSON may have it.
    private static let beginnings = ["://", #":\/\/"#]

    private static func escaped(_ address: String) -> String {
        address.replacing("/", with: #"\/"#)
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

extension [UInt8] {
    /// Whether these bytes stand among them, one behind the other.
    fileprivate func hold(_ other: [UInt8]) -> Bool {
        span.firstPlace(of: other.span, from: 0) != nil
    }
}
