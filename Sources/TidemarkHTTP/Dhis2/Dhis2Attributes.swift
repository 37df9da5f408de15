// Dhis2Attributes.swift — which attributes an answer tells of a tracked entity: those of its type,
// and those of the program that is asked for. Any other one that it lacks is not gone.
//
//   up to 2.39       lists tell all, with includeAllAttributes
//   what is known    by the documents of trackedEntityTypes and programs, where these are here;
//                    without them no attribute is gone that an answer lacks
//
// And which are sent: up to 2.39 one that is only missing in what is sent stays on the server, so
// that what was removed here is sent with null in the place of its value.

public import TidemarkEvents
import TidemarkSync

extension Dhis2Adapter {
    /// A tracked entity with the attributes that the server had and the answer would not tell, in
    /// the order in which they were; nil where there is none.
    public func completed(
        _ told: JSONDocument, of collection: CollectionModel, by known: JSONDocument,
        in list: ListParameters, _ document: (EntityKey) -> JSONDocument?
    ) -> [UInt8]? {
        guard Dhis2Kind(collection.name) == .trackedEntities, !tellsAllAttributes(list) else {
            return nil
        }
        let (now, before) = (Self.attributes(of: told), Self.attributes(of: known))
        let missing = Set(before.map(\.id)).subtracting(now.map(\.id))
        guard !missing.isEmpty else { return nil }
        let kept = missing.subtracting(shownAttributes(of: told, in: list, document))
        guard !kept.isEmpty else { return nil }
        var elements: [[UInt8]] = []
        for attribute in before {
            if kept.contains(attribute.id) {
                elements.append(attribute.bytes)
            } else if let same = now.first(where: { $0.id == attribute.id }) {
                elements.append(same.bytes)
            }
        }
        let old = Set(before.map(\.id))
        elements += now.filter { !old.contains($0.id) }.map(\.bytes)
        return told.applying(set: [(key: Self.attributes, value: elements.jsonList)])
    }

    /// An update of a tracked entity with null for each attribute that the server has and that was
    /// removed here; nil where nothing is to be added.
    func naming(
        removedIn call: ServerCall, _ collection: CollectionModel, _ base: JSONDocument?
    ) -> ServerCall? {
        guard dialect.generation == .old, let base,
            case .update(_, let id, let body, let changes, let revision) = call,
            let document = try? JSONDocument(parsing: body)
        else { return nil }
        let now = Self.attributes(of: document)
        var seen = Set(now.map(\.id))
        let gone = Self.attributes(of: base).map(\.id).filter { seen.insert($0).inserted }
        guard !gone.isEmpty else { return nil }
        let ranges = (try? JSON.arrayElements(of: body, at: Self.attributes)) ?? nil
        let elements =
            (ranges ?? []).map { Array(body[$0]) }
            + gone.map { JSONValue.object(["attribute": .string($0), "value": .null]).encoded() }
        let whole = document.applying(set: [(key: Self.attributes, value: elements.jsonList)])
        return .update(collection, id: id, body: whole, changes: changes, revision: revision)
    }

    /// Whether an answer tells all attributes, whosever they are: an older server's list of several
    /// tracked entities.
    private func tellsAllAttributes(_ list: ListParameters) -> Bool {
        dialect.generation == .old && !list.all.isEmpty && list[Self.one] == nil
    }

    /// The ids of the attributes that an answer would tell of a tracked entity, as far as what is
    /// here says so.
    private func shownAttributes(
        of entity: JSONDocument, in list: ListParameters,
        _ document: (EntityKey) -> JSONDocument?
    ) -> Set<String> {
        let type = entity.value("trackedEntityType")?.stringValue
        let owners = [
            ("trackedEntityTypes", type, "trackedEntityTypeAttributes"),
            ("programs", list["program"], "programTrackedEntityAttributes"),
        ]
        var ids: Set<String> = []
        for (collection, id, member) in owners {
            guard let id, let owner = document(EntityKey(CollectionName(collection), id)) else {
                continue
            }
            for item in owner.value(member)?.array ?? [] {
                if let id = item["trackedEntityAttribute"]?["id"]?.stringValue { ids.insert(id) }
            }
        }
        return ids
    }

    private static let attributes = "attributes"

    /// The attributes of a tracked entity as they were told, each with its id; of those without one
    /// nothing is known.
    private static func attributes(of document: JSONDocument) -> [(id: String, bytes: [UInt8])] {
        let ranges = (try? JSON.arrayElements(of: document.bytes, at: attributes)) ?? nil
        return (ranges ?? []).compactMap { range in
            let bytes = Array(document.bytes[range])
            return JSON.value("attribute", of: bytes)?.stringValue.map { ($0, bytes) }
        }
    }
}
