// Dhis2Apply.swift — an object that passed the checks becomes a record.

import TidemarkEvents

/// What became of an object.
enum Dhis2Outcome: Sendable, Hashable { case created, updated, deleted, ignored }

extension Dhis2ServerModel {
    /// An object with what it does not say and what follows from the rest: the program of an event,
    /// and its enrollment where the old API names only the tracked entity.
    func prepared(_ node: Dhis2Node) -> Dhis2Node {
        guard node.kind == .events else { return node }
        var node = node
        let trackedEntity = node.text("trackedEntity")
        node.fields["trackedEntity"] = nil
        let known = live(.events, node.id)
        if node.text("enrollment") == nil, let enrollment = known?.enrollment {
            node.fields["enrollment"] = .string(enrollment)
        }
        let enrollment = node.text("enrollment").flatMap { live(.enrollments, $0) }
        if node.text("program") == nil {
            let stage = metadatum("programStages", node.text("programStage"))
            let program = stage?.reference("program") ?? enrollment?.program
            node.fields["program"] = program.map { .string($0) }
        }
        if node.text("enrollment") == nil, let trackedEntity {
            let active = all(.enrollments).last {
                !$0.isDeleted && $0.trackedEntity == trackedEntity
                    && $0.program == node.text("program") && $0.text("status") == "ACTIVE"
            }
            node.fields["enrollment"] = active.map { .string($0.id) }
        }
        return node
    }

    /// Creates or changes a record; what is in the object was imported or follows.
    ///
    /// - Parameter program: of the old API, the program whose attributes are replaced.
    mutating func apply(
        _ node: Dhis2Node, _ generation: Dhis2Generation, _ user: Dhis2User, _ now: Timestamp,
        program: String? = nil
    ) -> Dhis2Outcome {
        let known = live(node.kind, node.id)
        if node.kind == .relationships, known != nil { return .ignored }
        var record =
            known
            ?? Dhis2Record(
                kind: node.kind, id: node.id, sequence: nextNumber(), createdAt: now,
                updatedAt: now, fields: JSONObject())
        record.updatedAt = now
        for (key, value) in node.fields where key != "notes" && key != node.kind.valuesMember {
            record.fields[key] = kept(key, value)
        }
        complete(&record, user, now)
        note(node, in: &record, user, now)
        switch node.kind {
        case .trackedEntities:
            if let program { dropAttributes(of: program, not: node, in: &record) }
            change(&record, by: node.values, user, now)
        case .enrollments: changeOwner(of: record, by: node.values, user, now)
        case .events:
            if generation == .old {
                let given = Set(node.values.compactMap { $0["dataElement"]?.stringValue })
                record.values.removeAll { !given.contains($0["dataElement"]?.stringValue ?? "") }
            }
            change(&record, by: node.values, user, now)
        case .relationships: break
        }
        keep(record)
        touch(trackedEntity: trackedEntity(of: record), now)
        return known == nil ? .created : .updated
    }

    /// Times in the server's form, ends of relationships in the long form.
    private func kept(_ key: String, _ value: JSONValue) -> JSONValue? {
        let times = [
            "enrolledAt", "occurredAt", "scheduledAt", "completedAt", "createdAtClient",
            "updatedAtClient",
        ]
        if times.contains(key) {
            return value.stringValue.map { .string(time.normal($0) ?? $0) }
        }
        if key == "from" || key == "to" {
            return value.object.flatMap(Dhis2End.init)?.json ?? value
        }
        return value == .null ? JSONValue?.none : value
    }

    private func complete(_ record: inout Dhis2Record, _ user: Dhis2User, _ now: Timestamp) {
        guard record.kind == .enrollments || record.kind == .events else { return }
        if record.text("status") == nil { record.fields["status"] = "ACTIVE" }
        if record.text("status") == "COMPLETED" {
            if record.text("completedAt") == nil {
                record.fields["completedAt"] = .string(time.text(now))
            }
            if record.text("completedBy") == nil {
                record.fields["completedBy"] = .string(user.username)
            }
        } else {
            record.fields["completedAt"] = nil
            record.fields["completedBy"] = nil
        }
        guard record.kind == .events else { return }
        record.fields["storedBy"] = .string(user.username)
        if record.text("attributeOptionCombo") == nil {
            record.fields["attributeOptionCombo"] = .string(Self.usualCombo)
        }
    }

    /// Notes are added and never changed.
    private mutating func note(
        _ node: Dhis2Node, in record: inout Dhis2Record, _ user: Dhis2User, _ now: Timestamp
    ) {
        var notes = record.fields["notes"]?.array ?? []
        for note in node.fields["notes"]?.array ?? [] {
            let given = note["note"]?.stringValue
            let isThere = given != nil && notes.contains { $0["note"]?.stringValue == given }
            guard !isThere, let value = note["value"] else { continue }
            notes.append([
                "note": .string(given ?? newID()), "value": value,
                "storedAt": .string(time.text(now)), "storedBy": .string(user.username),
            ])
        }
        if !notes.isEmpty { record.fields["notes"] = .array(notes) }
    }

    /// Where a program is named, the old API drops its attributes that are not given; else it
    /// keeps them all, and one with an empty value is removed.
    private func dropAttributes(
        of program: String, not node: Dhis2Node, in record: inout Dhis2Record
    ) {
        let ofProgram = programAttributes(program)
        let given = Set(node.values.compactMap { $0["attribute"]?.stringValue })
        record.values.removeAll { value in
            let id = value["attribute"]?.stringValue ?? ""
            return !given.contains(id) && ofProgram.contains(id)
        }
    }

    /// Attributes of an enrollment are kept with the tracked entity; a new one has an owner.
    private mutating func changeOwner(
        of record: Dhis2Record, by values: [JSONObject], _ user: Dhis2User, _ now: Timestamp
    ) {
        guard let id = record.trackedEntity, let program = record.program else { return }
        let ownership = Dhis2Ownership(trackedEntity: id, program: program)
        if owners[ownership] == nil { owners[ownership] = record.orgUnit }
        guard var owner = live(.trackedEntities, id) else { return }
        change(&owner, by: values, user, now)
        keep(owner)
    }

    /// Sets values one by one; an empty one is removed.
    private mutating func change(
        _ record: inout Dhis2Record, by given: [JSONObject], _ user: Dhis2User, _ now: Timestamp
    ) {
        var kind = record.kind
        if kind == .enrollments { kind = .trackedEntities }
        var values = record.values
        for item in given {
            guard let key = item[kind.valueKey]?.stringValue else { continue }
            let place = values.firstIndex { $0[kind.valueKey]?.stringValue == key }
            let old = place.flatMap { values[$0]["value"]?.stringValue }
            guard let value = item["value"]?.stringValue, !value.isEmpty else {
                if let place { values.remove(at: place) }
                if let old { files[old]?.owner = nil }
                continue
            }
            if old == value { continue }
            if let old { files[old]?.owner = nil }
            files[value]?.owner = record.id
            let createdAt = place.flatMap { values[$0]["createdAt"] }
            var new: JSONObject = [
                kind.valueKey: .string(key), "value": .string(value),
                "createdAt": createdAt ?? .string(time.text(now)),
                "updatedAt": .string(time.text(now)), "storedBy": .string(user.username),
            ]
            if kind == .events {
                new["providedElsewhere"] = item["providedElsewhere"] ?? false
            }
            if let place { values[place] = new } else { values.append(new) }
        }
        record.values = values
    }

    /// The tracked entity to which an object belongs.
    private func trackedEntity(of record: Dhis2Record) -> String? {
        switch record.kind {
        case .trackedEntities, .relationships: nil
        case .enrollments: record.trackedEntity
        case .events: record.enrollment.flatMap { rows[.enrollments]?[$0]?.trackedEntity }
        }
    }

    /// Deletes a record with what is below it and with its relationships; a trace of each stays,
    /// which lists show with `includeDeleted`.
    mutating func remove(_ kind: Dhis2Kind, _ id: String, now: Timestamp) {
        guard var record = live(kind, id) else { return }
        let below: [Dhis2Record] =
            switch kind {
            case .trackedEntities: all(.enrollments).filter { $0.trackedEntity == id }
            case .enrollments: all(.events).filter { $0.enrollment == id }
            case .events, .relationships: []
            }
        for child in below { remove(child.kind, child.id, now: now) }
        for relationship in all(.relationships)
        where ["from", "to"].contains(where: {
            relationship.end($0)?.kind == kind && relationship.end($0)?.id == id
        }) {
            remove(.relationships, relationship.id, now: now)
        }
        record.isDeleted = true
        record.updatedAt = now
        keep(record)
        touch(trackedEntity: trackedEntity(of: record), now)
    }
}
