// Dhis2Elements.swift — what of an event is not sent. What of a tracked entity is sent in addition
// is in Dhis2Attributes.swift.
//
//   values of data elements that the program stage does not have: with one of them DHIS2 refuses
//   the whole event; but the old importers, which replace all values, keep those that are there
//   the enrollment of an event in a program without registration: some versions tell one that
//   stands for all of them, and nobody makes it

public import TidemarkEvents
public import TidemarkSync

extension Dhis2Adapter {
    /// An event without the values of elements that its program stage does not have, and without
    /// an enrollment where its program has none, as far as stage and program are here; up to 2.39
    /// a tracked entity with an empty value for each attribute that was removed.
    public func part(
        of call: ServerCall, on base: JSONDocument?, _ document: (EntityKey) -> JSONDocument?
    ) -> SentPart? {
        guard let collection = call.collection else { return nil }
        let kind = Dhis2Kind(collection.name)
        if kind == .trackedEntities {
            return naming(removedIn: call, collection, base).map { SentPart($0, leftOut: []) }
        }
        guard kind == .events else { return nil }
        let unenrolled = Self.unenrolled(call, collection, document)
        guard let part = part(of: unenrolled ?? call, collection, base, document) else {
            return unenrolled.map { SentPart($0, leftOut: []) }
        }
        return part
    }

    /// An event in a program without registration, without an enrollment; nil for any other.
    private static func unenrolled(
        _ call: ServerCall, _ collection: CollectionModel, _ document: (EntityKey) -> JSONDocument?
    ) -> ServerCall? {
        let field = "enrollment"
        guard let body = call.write?.body, JSON.value(field, of: body) != .none,
            let program = JSON.value("program", of: body)?.stringValue,
            document(EntityKey("programs", program))?.value("programType")?.stringValue
                == "WITHOUT_REGISTRATION"
        else { return nil }
        func without(_ bytes: [UInt8]) -> [UInt8] {
            (try? JSONDocument(parsing: bytes))?.applying(set: [], unset: [field]) ?? bytes
        }
        switch call {
        case .create(_, let id, _): return .create(collection, id: id, body: without(body))
        case .update(_, let id, _, let changes, let revision):
            return .update(
                collection, id: id, body: without(body), changes: without(changes),
                revision: revision)
        default: return nil
        }
    }

    private func part(
        of call: ServerCall, _ collection: CollectionModel, _ base: JSONDocument?,
        _ document: (EntityKey) -> JSONDocument?
    ) -> SentPart? {
        guard let body = call.write?.body,
            (try? JSON.arrayElements(of: body, at: Self.values))?.isEmpty == false,
            let stage = JSON.value("programStage", of: body)?.stringValue,
            let definition = document(EntityKey("programStages", stage)),
            var elements = Self.elements(of: definition)
        else { return nil }
        if dialect.generation == .old {
            // Left out, it would be deleted: the stage may be another one on the server by now.
            let known = base?.value(Self.values)?.array ?? []
            elements.formUnion(known.compactMap { $0["dataElement"]?.stringValue })
        }
        let left = Self.split(body, elements)
        guard !left.gone.isEmpty else { return nil }
        let list = collection.keyed.first { $0.field == Self.values }
        let leftOut = left.gone.compactMap { value -> ServerIssue? in
            guard let id = value["dataElement"]?.stringValue, let text = value["value"],
                text != .null
            else { return nil }
            return ServerIssue(
                .warning, "\(id) is not in the program stage \(stage): its value was not sent",
                path: list?.name(of: id), value: text.stringValue ?? text.description)
        }
        switch call {
        case .create(_, let id, _):
            return SentPart(.create(collection, id: id, body: left.body), leftOut: leftOut)
        case .update(_, let id, _, let changes, let revision):
            return SentPart(
                .update(
                    collection, id: id, body: left.body,
                    changes: Self.split(changes, elements).body, revision: revision),
                leftOut: leftOut)
        default: return nil
        }
    }

    private static let values = "dataValues"

    /// The elements of a program stage; nil where it tells none.
    private static func elements(of stage: JSONDocument) -> Set<String>? {
        let items = stage.value("programStageDataElements")?.array ?? []
        let elements = Set(items.compactMap { $0["dataElement"]?["id"]?.stringValue })
        return elements.isEmpty ? nil : elements
    }

    /// An event's document, or its changes, without the values of other elements, and those values.
    private static func split(
        _ bytes: [UInt8], _ elements: Set<String>
    ) -> (body: [UInt8], gone: [JSONValue]) {
        guard let document = try? JSONDocument(parsing: bytes),
            let items = try? JSON.arrayElements(of: bytes, at: values)
        else { return (bytes, []) }
        var (kept, gone): ([[UInt8]], [JSONValue]) = ([], [])
        for item in items {
            let bytes = Array(bytes[item])
            let value = try? JSONValue(parsing: bytes)
            if let value, let id = value["dataElement"]?.stringValue, !elements.contains(id) {
                gone.append(value)
            } else {
                kept.append(bytes)
            }
        }
        guard !gone.isEmpty else { return (bytes, []) }
        guard !kept.isEmpty else { return (document.applying(set: [], unset: [values]), gone) }
        return (document.applying(set: [(key: values, value: kept.jsonList)]), gone)
    }
}
