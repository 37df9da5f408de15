// Dhis2Writing.swift — what is sent to DHIS2: a bundle of entities that name each other, or a list
// of one kind where the server has the old importers, each with what is written in it.
//
//   up to 2.39     POST api/enrollments?strategy=SYNC                       trees of one kind
//                  POST api/events?strategy=CREATE_AND_UPDATE               without registration
//                  POST api/events?strategy=DELETE
//   from 2.40 on   POST api/tracker?importStrategy=CREATE_AND_UPDATE&…      all kinds together
//                  POST api/tracker?importStrategy=DELETE&…
//                  GET api/tracker/jobs/ID and …/ID/report, where it was more than a few writes
//   data values    see Dhis2DataValues.swift
//
// The new importer keeps the values that an entity does not name, so that of its lists only the
// values that changed are sent; one without a value is deleted. The old ones replace all values of
// an event, and keep the attributes that a tracked entity does not name: see Dhis2Attributes.swift.

import HTTPTypes
import TidemarkEvents
import TidemarkStore
import TidemarkSync

extension Dhis2Adapter {
    /// An id as DHIS2 wants them, made of any text.
    ///
    /// It is eleven letters and digits, of which the first is a letter. The same text gives the
    /// same id; different texts different ones, as far as 65 bits go. An entity gets it where it is
    /// made: `Dhis2Adapter.id(from: tx.makeID())`.
    public static func id(from text: String) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
        let all = letters + Array("0123456789")
        // Four bytes a character: how they are divided by 62 makes none much likelier.
        let digest = SHA256Digest.of(Array(text.utf8)) + SHA256Digest.of(Array("\(text)/".utf8))
        var id = ""
        for place in 0..<11 {
            let alphabet = place == 0 ? letters : all
            let number = digest[place * 4..<place * 4 + 4].reduce(0) { $0 << 8 | Int($1) }
            id.append(alphabet[number % alphabet.count])
        }
        return id
    }

    /// How many writes are imported while the client waits; more are a job of the server.
    static let writesAtOnceMax = 10

    /// The request that carries out some writes: all deletions, or none.
    func importing(_ calls: [ServerCall]) throws(SyncFailure) -> ServerRequest {
        if calls.contains(where: \.isAboutDataValue) { return try importing(values: calls) }
        var nodes: [Dhis2Node] = []
        var isDeletion = false
        for call in calls {
            guard let collection = call.collection, let write = call.write else { continue }
            let kind = try known(collection)
            guard kind.isTracker else {
                throw .client(
                    status: 0,
                    "changes of \(collection.name) are not sent to DHIS2; set pushes to [] in the "
                        + "model")
            }
            if case .delete = call { isDeletion = true }
            nodes.append(Dhis2Node(kind, write.id, element(call, collection, kind)))
        }
        if dialect.generation == .old, !isDeletion { nodes = dialect.trees(of: nodes) }
        var lists: [(kind: Dhis2Kind, elements: [[UInt8]])] = []
        for node in nodes {
            if let place = lists.firstIndex(where: { $0.kind == node.kind }) {
                lists[place].elements.append(node.element)
            } else {
                lists.append((node.kind, [node.element]))
            }
        }
        var body = Array("{".utf8)
        for (index, list) in lists.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            body += "\"\(dialect.listName(of: list.kind))\":".utf8
            body += list.elements.jsonList
        }
        body.append(UInt8(ascii: "}"))
        let place: String
        switch dialect.generation {
        case .old:
            guard lists.count == 1 else {
                throw .client(status: 0, "up to 2.39 DHIS2 takes trees of one kind a request")
            }
            // Up to 2.29 there is no SYNC.
            let isSimple =
                dialect.minor < 30
                || lists[0].kind == .events && lists[0].elements.allSatisfy(Self.isUnregistered)
            let usual = isSimple ? "CREATE_AND_UPDATE" : "SYNC"
            place =
                dialect.place(of: lists[0].kind) + "?strategy=" + (isDeletion ? "DELETE" : usual)
        case .new:
            let mode = calls.count > Self.writesAtOnceMax ? "" : "async=false&reportMode=WARNINGS&"
            place =
                "tracker?\(mode)atomicMode=OBJECT&importStrategy="
                + (isDeletion ? "DELETE" : "CREATE_AND_UPDATE")
        }
        return post(place, body)
    }

    /// Whether an event lies in no enrollment.
    private static func isUnregistered(_ event: [UInt8]) -> Bool {
        let enrollment = JSON.value("enrollment", of: event)
        return enrollment == .none || enrollment == .some(.null)
    }

    func post(_ place: String, _ body: [UInt8]) -> ServerRequest {
        ServerRequest(
            method: .post, path: "/api/\(place)",
            headers: [.contentType: "application/json"], body: body)
    }

    /// The lists in an object that are not its own: a server takes what is in them for written,
    /// too, over what others changed there meanwhile.
    private func listsBeside(_ kind: Dhis2Kind) -> [String] {
        // Up to 2.39 a server may take relationships that are not there for deleted.
        var kinds = dialect.children(of: kind)
        if dialect.generation == .old { kinds.removeAll { $0 == .relationships } }
        // The attributes of an enrollment are its tracked entity's.
        return kinds.map { dialect.listName(of: $0) } + (kind == .enrollments ? ["attributes"] : [])
    }

    /// A write's part of the payload.
    private func element(
        _ call: ServerCall, _ collection: CollectionModel, _ kind: Dhis2Kind
    ) -> [UInt8] {
        switch call {
        case .create(_, _, let body): return body
        case .update(_, _, let body, let changes, _):
            guard let document = try? JSONDocument(parsing: body),
                let changed = try? JSONDocument(parsing: changes)
            else { return body }
            var set: [(key: String, value: [UInt8])] = []
            var unset = listsBeside(kind).filter { changed.rawValue($0) == nil }
            for list in collection.keyed where dialect.generation == .new {
                if let value = changed.rawValue(list.field) {
                    set.append((key: list.field, value: Array(value)))
                } else {
                    unset.append(list.field)
                }
            }
            return set.isEmpty && unset.isEmpty
                ? body : document.applying(set: set, unset: unset)
        case .delete(_, let id, _):
            return JSONValue.object([dialect.idField(of: kind): .string(id)]).encoded()
        case .list, .listWindow, .listPart, .feed, .combined, .describe, .read, .fetch, .refetch,
            .perform, .batch, .poll, .reserve:
            return Array("{}".utf8)
        }
    }
}

/// A write's part of a payload, and which object it is about.
struct Dhis2Node {
    let kind: Dhis2Kind
    let id: String
    var element: [UInt8]

    init(_ kind: Dhis2Kind, _ id: String, _ element: [UInt8]) {
        self.kind = kind
        self.id = id
        self.element = element
    }
}

extension Dhis2Dialect {
    /// Objects with those in them that name them; those that name none of these stay as they are.
    func trees(of nodes: [Dhis2Node]) -> [Dhis2Node] {
        var nodes = nodes
        // What is innermost first, so that each is complete when it is put into another one.
        for kind in [Dhis2Kind.enrollments, .trackedEntities] {
            guard let inner = children(of: kind).first else { continue }
            var held: [ExactString: [[UInt8]]] = [:]
            let outer = Set(nodes.filter { $0.kind == kind }.map { ExactString($0.id) })
            nodes.removeAll { node in
                guard node.kind == inner,
                    let name = JSON.value(idField(of: kind), of: node.element)?.stringValue,
                    outer.contains(ExactString(name))
                else { return false }
                held[ExactString(name), default: []].append(node.element)
                return true
            }
            for place in nodes.indices where nodes[place].kind == kind {
                guard let elements = held[ExactString(nodes[place].id)],
                    let document = try? JSONDocument(parsing: nodes[place].element)
                else { continue }
                nodes[place].element = document.applying(
                    set: [(key: listName(of: inner), value: elements.jsonList)])
            }
        }
        return nodes
    }
}

extension [[UInt8]] {
    /// A JSON list of these values.
    var jsonList: [UInt8] {
        [UInt8(ascii: "[")] + joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
    }
}
