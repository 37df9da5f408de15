// Dhis2World+Edits.swift — what a tablet's user does, by chance from the seed.

import Tidemark
import TidemarkEvents

extension Dhis2World {
    private func newID(_ letter: String) -> String { "\(letter)\(made.count())" }

    func edit(_ device: Dhis2Device) throws {
        let entities = try device.keys("trackedEntities")
        let enrollments = try device.keys("enrollments")
        let events = try device.keys("events")
        let links = try device.keys("relationships")
        do {
            switch random.below(entities.isEmpty ? 1 : 18) {
            case 0...1: try register(device)
            case 2...5 where !enrollments.isEmpty:
                for _ in 0...random.below(4) { try visit(device, random.pick(enrollments)) }
            case 6...7 where !events.isEmpty: try measure(device, random.pick(events))
            case 8 where !enrollments.isEmpty:
                try device.patch(
                    "enrollments/\(random.pick(enrollments))",
                    "{\"\(words.followUp)\":\(random.chance(50))}")
            case 9:
                try device.patch(
                    "trackedEntities/\(random.pick(entities))",
                    "{\"inactive\":\(random.chance(50))}")
            case 10 where !events.isEmpty: try device.delete("events/\(random.pick(events))")
            case 11 where random.chance(40):
                try device.delete("trackedEntities/\(random.pick(entities))")
            case 11 where !enrollments.isEmpty:
                try device.delete("enrollments/\(random.pick(enrollments))")
            case 12...13: try link(device, [entities, enrollments, events])
            case 14 where !links.isEmpty:
                try device.delete("relationships/\(random.pick(links))")
            case 15: try count(device, random.pick(Self.values))
            case 16 where !events.isEmpty:
                try relay(device, device.key("events/\(random.pick(events))"))
            case 17:
                try relay(device, device.key("trackedEntities/\(random.pick(entities))"))
            default: break
            }
        } catch let error as TidemarkError where error.code == .notFound {
            // What it is about went with something else, or is known in part.
        }
    }

    private func register(_ device: Dhis2Device) throws {
        let (entity, enrollment) = (newID("T"), newID("E"))
        try device.replica.write { tx in
            // Without a value left the entity has no number.
            let key = [Self.number]
            let value = try? tx.take(from: Self.numbers, key: key)
            let attributes = value.map {
                #","attributes":[{"attribute":"\#(Self.number)","value":"\#($0)"}]"#
            }
            let json = #"{"trackedEntityType":"Person","orgUnit":"O1"\#(attributes ?? "")}"#
            _ = try tx.create(try device.key("trackedEntities/\(entity)"), Array(json.utf8))
        }
        // A value for a form that nobody sends.
        if random.chance(10) {
            _ = try? device.replica.take(from: Self.numbers, key: [Self.number])
        }
        try device.create(
            "enrollments/\(enrollment)",
            """
            {"\(words.trackedEntity)":"\(entity)","program":"P1","orgUnit":"O1","status":"ACTIVE",
             "\(words.enrolledAt)":"2026-01-01T00:00:00.000"}
            """)
        for _ in 0..<random.below(5) { try visit(device, enrollment) }
    }

    private func visit(_ device: Dhis2Device, _ enrollment: String) throws {
        try device.create(
            "events/\(newID("V"))",
            """
            {"enrollment":"\(enrollment)","program":"P1","programStage":"S1","orgUnit":"O1",
             "status":"ACTIVE","\(words.occurredAt)":"2026-01-02T00:00:00.000",
             "dataValues":[{"dataElement":"D1","value":"\(random.below(90))"}]}
            """)
    }

    /// Takes a value; now and then one that the server refuses.
    private func measure(_ device: Dhis2Device, _ event: String) throws {
        let element = random.pick(["D1", "D2"])
        let value = random.chance(10) ? "five" : "\(random.below(90))"
        let patch = Patch(
            set: [
                Patch.Field(
                    "/dataValues/\(element)",
                    Array(#"{"dataElement":"\#(element)","value":"\#(value)"}"#.utf8))
            ])
        try device.replica.write { tx in _ = try tx.patch(try device.key("events/\(event)"), patch)
        }
    }

    /// Enters an aggregate value, changes it, or takes it back.
    private func count(_ device: Dhis2Device, _ id: String) throws {
        let key = "dataValues/\(id)"
        let value = #""value":"\#(random.below(90))""#
        if try !device.keys("dataValues").contains(id) {
            try device.create(key, #"{"dataSet":"\#(Self.dataSet)",\#(value)}"#)
        } else if random.chance(25) {
            try device.delete(key)
        } else {
            try device.patch(key, "{\(value)}")
        }
    }

    /// Tells that what is pending was sent another way, and perhaps that it arrived, which is not
    /// always true.
    private func relay(_ device: Dhis2Device, _ key: EntityKey) throws {
        let hasArrived = random.chance(30)
        try device.replica.write { tx in
            try tx.markRelayed(key, via: "sms")
            if hasArrived { try tx.markConfirmed(key, via: "sms") }
        }
    }

    /// Links two entities that are here, of any kinds; now and then one with itself.
    private func link(_ device: Dhis2Device, _ ids: [[String]]) throws {
        let all = zip(words.kinds, ids).flatMap { kind, ids in ids.map { (kind.id, $0) } }
        let ends = [random.pick(all), random.pick(all)].map { kind, id in
            #"{"\#(kind)":{"\#(kind)":"\#(id)"}}"#
        }
        let isSibling = random.chance(50)
        try device.create(
            "relationships/\(newID("R"))",
            """
            {"relationshipType":"\(isSibling ? "Sibling" : "Mother")","bidirectional":\(isSibling),
             "from":\(ends[0]),"to":\(ends[1])}
            """)
    }
}
