// Dhis2Payload.swift — what came to be imported: objects, and the objects in them.

import TidemarkEvents

/// An object of a payload, by the names of the new API.
struct Dhis2Node: Sendable {
    var kind: Dhis2Kind
    var id: String
    /// Its members without the objects in it.
    var fields: JSONObject
    /// Whether the old API asks to delete it.
    var isDeleted: Bool
    var children: [Dhis2Node] = []
    var relationships: [Dhis2Node] = []

    func text(_ member: String) -> String? {
        fields[member]?.stringValue.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Its attributes or data values.
    var values: [JSONObject] { fields[kind.valuesMember]?.array?.compactMap(\.object) ?? [] }

    /// The object and all that is in it, a parent before its children.
    var flat: [Dhis2Node] {
        var alone = self
        alone.children = []
        alone.relationships = []
        return [alone] + children.flatMap(\.flat) + relationships.flatMap(\.flat)
    }
}

/// How objects that are there or not are imported.
enum Dhis2Strategy: String, Sendable {
    case create = "CREATE"
    case update = "UPDATE"
    case createAndUpdate = "CREATE_AND_UPDATE"
    case delete = "DELETE"
    /// The old API's: objects with `deleted` are deleted, others created or updated.
    case sync = "SYNC"
}

extension Dhis2ServerModel {
    /// - Throws: 400 when the bytes are no JSON object.
    func body(_ bytes: [UInt8]) throws(Dhis2Rejection) -> JSONObject {
        guard let object = (try? JSONValue(parsing: bytes))?.object else {
            throw Dhis2Rejection(400, "Invalid JSON payload")
        }
        return object
    }

    func strategy(
        _ text: String?, _ usual: Dhis2Strategy
    ) throws(Dhis2Rejection) -> Dhis2Strategy {
        guard let text else { return usual }
        guard let strategy = Dhis2Strategy(rawValue: text) else {
            throw Dhis2Rejection(400, "Value '\(text)' is not a valid import strategy")
        }
        return strategy
    }

    /// The objects of a member, each with what is in it; those without an id get one.
    mutating func nodes(_ kind: Dhis2Kind, _ value: JSONValue?) -> [Dhis2Node] {
        var nodes: [Dhis2Node] = []
        for object in (value?.array ?? []).compactMap(\.object) { nodes.append(node(kind, object)) }
        return nodes
    }

    mutating func node(_ kind: Dhis2Kind, _ object: JSONObject) -> Dhis2Node {
        let given = object[kind.idMember]?.stringValue
        let id = given.flatMap { $0.isEmpty ? nil : $0 } ?? newID()
        var fields = object
        for member in Self.notKept { fields[member] = nil }
        fields[kind.idMember] = nil
        var node = Dhis2Node(
            kind: kind, id: id, fields: fields,
            isDeleted: object["deleted"]?.boolValue ?? false)
        switch kind {
        case .trackedEntities:
            node.children = nodes(.enrollments, object["enrollments"])
                .map { $0.with("trackedEntity", id) }
        case .enrollments:
            node.children = nodes(.events, object["events"]).map { $0.with("enrollment", id) }
        case .events: node.fields["trackedEntity"] = object["trackedEntity"]
        case .relationships: break
        }
        node.relationships = nodes(.relationships, object["relationships"])
        return node
    }

    /// Members that the server works out or that are objects of their own.
    private static let notKept = [
        "createdAt", "updatedAt", "deleted", "enrollments", "events", "relationships",
        "programOwners", "enrollmentStatus", "orgUnitName", "bidirectional", "relationshipName",
        "href", "createdBy", "updatedBy", "storedBy",
    ]
}

extension Dhis2Node {
    /// With the id of its parent, unless it names one.
    fileprivate func with(_ member: String, _ id: String) -> Dhis2Node {
        var node = self
        if node.text(member) == nil { node.fields[member] = .string(id) }
        return node
    }
}
