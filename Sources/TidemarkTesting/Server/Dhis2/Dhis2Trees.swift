// Dhis2Trees.swift — tracker objects as they are returned, with the objects in them.

import TidemarkEvents

/// What a returned object has in it.
struct Dhis2View: Sendable {
    var user: Dhis2User
    var now: Timestamp
    /// Only enrollments in this program, with its attributes beside those of the type.
    var program: String?
    var hasDeleted = false
    var hasAllAttributes = false
}

extension Dhis2ServerModel {
    /// An object with everything in it, by the names of the new API.
    func tree(_ record: Dhis2Record, _ view: Dhis2View) -> JSONObject {
        var object = JSONObject()
        object[record.kind.idMember] = .string(record.id)
        object["createdAt"] = .string(time.text(record.createdAt))
        object["updatedAt"] = .string(time.text(record.updatedAt))
        for (key, value) in record.fields where key != "attributes" { object[key] = value }
        object["deleted"] = .bool(record.isDeleted)
        switch record.kind {
        case .trackedEntities: complete(trackedEntity: &object, record, view)
        case .enrollments: complete(enrollment: &object, record, view)
        case .events: complete(event: &object, record, view)
        case .relationships: complete(relationship: &object, record)
        }
        return object
    }

    private func complete(
        trackedEntity object: inout JSONObject, _ record: Dhis2Record, _ view: Dhis2View
    ) {
        object["inactive"] = object["inactive"] ?? false
        object["potentialDuplicate"] = object["potentialDuplicate"] ?? false
        object["relationships"] = relationships(of: record, view)
        object["attributes"] = .array(
            attributes(of: record, view).map { .object($0) })
        let enrollments = children(of: record, view)
        object["enrollments"] = .array(enrollments.map { .object(tree($0, view)) })
        object["programOwners"] = .array(
            owners(of: record.id).filter { view.program == nil || view.program == $0.program }
                .map { owner in
                    [
                        "orgUnit": .string(owners[owner] ?? ""),
                        "trackedEntity": .string(record.id), "program": .string(owner.program),
                    ]
                })
    }

    /// The programs in which a tracked entity has an owner, by their ids.
    private func owners(of id: String) -> [Dhis2Ownership] {
        owners.keys.filter { $0.trackedEntity == id }.sorted { $0.program < $1.program }
    }

    /// Those of the type, and of the program that was asked for; all where the type names none.
    private func attributes(of record: Dhis2Record, _ view: Dhis2View) -> [JSONObject] {
        let type = metadatum("trackedEntityTypes", record.text("trackedEntityType"))
        let ofType =
            type?.references("trackedEntityTypeAttributes", by: "trackedEntityAttribute") ?? []
        if ofType.isEmpty || view.hasAllAttributes { return record.values }
        let wanted = Set(ofType + programAttributes(view.program))
        return record.values.filter { wanted.contains($0["attribute"]?.stringValue ?? "") }
    }

    /// The ids of a program's attributes.
    func programAttributes(_ program: String?) -> [String] {
        metadatum("programs", program)?
            .references("programTrackedEntityAttributes", by: "trackedEntityAttribute") ?? []
    }

    /// What lies below an object and may be seen, in the order of creation.
    func children(of record: Dhis2Record, _ view: Dhis2View) -> [Dhis2Record] {
        switch record.kind {
        case .trackedEntities:
            return all(.enrollments).filter { child in
                guard child.trackedEntity == record.id, view.hasDeleted || !child.isDeleted,
                    let program = child.program
                else { return false }
                if let wanted = view.program, wanted != program { return false }
                let ownership = Dhis2Ownership(trackedEntity: record.id, program: program)
                return denial(ownership, view.user, view.now) == nil
            }
        case .enrollments:
            return all(.events).filter {
                $0.enrollment == record.id && (view.hasDeleted || !$0.isDeleted)
            }
        case .events, .relationships: return []
        }
    }

    private func complete(
        enrollment object: inout JSONObject, _ record: Dhis2Record, _ view: Dhis2View
    ) {
        object["followUp"] = object["followUp"] ?? false
        object["events"] = .array(children(of: record, view).map { .object(tree($0, view)) })
        object["relationships"] = relationships(of: record, view)
        let wanted = Set(programAttributes(record.program))
        let values = record.trackedEntity.flatMap { rows[.trackedEntities]?[$0]?.values } ?? []
        object["attributes"] = .array(
            values.filter { wanted.contains($0["attribute"]?.stringValue ?? "") }
                .map { .object($0) })
        object["notes"] = object["notes"] ?? []
        if let type = record.trackedEntity.flatMap({ rows[.trackedEntities]?[$0] })?
            .text("trackedEntityType")
        {
            object["trackedEntityType"] = .string(type)
        }
    }

    private func complete(
        event object: inout JSONObject, _ record: Dhis2Record, _ view: Dhis2View
    ) {
        object["followUp"] = object["followUp"] ?? false
        if let enrollment = record.enrollment.flatMap({ rows[.enrollments]?[$0] }) {
            object["enrollmentStatus"] = enrollment.fields["status"]
            object["trackedEntity"] = enrollment.fields["trackedEntity"]
        }
        object["dataValues"] = object["dataValues"] ?? []
        object["notes"] = object["notes"] ?? []
        object["relationships"] = relationships(of: record, view)
    }

    private func complete(relationship object: inout JSONObject, _ record: Dhis2Record) {
        let type = metadatum("relationshipTypes", record.text("relationshipType"))
        object["relationshipName"] = type?.fields["name"] ?? .string("")
        object["bidirectional"] = .bool(type?.flag("bidirectional") ?? false)
    }

    /// The relationships that have an object at one of their ends.
    private func relationships(of record: Dhis2Record, _ view: Dhis2View) -> JSONValue {
        let found = all(.relationships).filter { relationship in
            (view.hasDeleted || !relationship.isDeleted)
                && ["from", "to"].contains {
                    let end = relationship.end($0)
                    return end?.kind == record.kind && end?.id == record.id
                }
        }
        return .array(found.map { .object(tree($0, view)) })
    }
}
