// KintoCase.swift — edits of one entity on three sides, and what they must come to.
//
// The plain client's edit is on the server first; then replica a syncs, then replica b, then both
// again.

import TidemarkEvents

@testable import SyncSupport

/// One entity's story.
struct KintoCase: Sendable {
    /// `collection/id`; the server wins in lists, the replica in tasks.
    var key: String
    /// What all three start from.
    var start: Start = .nothing
    var client: KintoEdit?
    var a: [KintoEdit] = []
    var b: [KintoEdit] = []
    /// The record at the end, without what the server sets; nil when there is none.
    var end: String?
    /// What became of each mutation.
    var fatesOfA: [MutationOutcome] = []
    var fatesOfB: [MutationOutcome] = []

    enum Start: Sendable {
        case nothing
        case record(String)
        case tombstone
    }
}

extension KintoCase {
    static let all = alone + meeting + deleting + returning

    /// Edits that nobody else's meet.
    private static let alone: [KintoCase] = [
        KintoCase(
            key: "lists/created-on-a", a: [.put(#"{"title":"a","n":[1,2]}"#)],
            end: #"{"title":"a","n":[1,2]}"#, fatesOfA: [.accepted]),
        KintoCase(
            key: "tasks/created-by-the-client", client: .put(#"{"title":"c"}"#),
            end: #"{"title":"c"}"#),
        KintoCase(
            key: "tasks/created-and-edited",
            b: [.put(#"{"title":"b","n":1}"#), .patch(#"{"n":2}"#), .patch(#"{"n":3}"#)],
            end: #"{"title":"b","n":3}"#, fatesOfB: [.accepted, .coalesced, .accepted]),
        KintoCase(
            key: "tasks/created-and-deleted", b: [.put(#"{"title":"b"}"#), .delete], end: nil,
            fatesOfB: [.annihilated, .annihilated]),
        KintoCase(
            key: "lists/field-removed", start: .record(#"{"title":"s","n":1}"#),
            b: [.put(#"{"title":"s"}"#)], end: #"{"title":"s"}"#, fatesOfB: [.accepted]),
        KintoCase(
            key: "tasks/deleted-on-a", start: .record(#"{"title":"s"}"#), a: [.delete], end: nil,
            fatesOfA: [.accepted]),
        KintoCase(
            key: "lists/deleted-by-the-client", start: .record(#"{"title":"s"}"#),
            client: .delete, end: nil),
    ]

    /// Edits of the same entity on several sides.
    private static let meeting: [KintoCase] =
        ["lists", "tasks"].map { collection in
            KintoCase(
                key: "\(collection)/different-fields", start: .record(#"{"x":1,"y":1,"z":1}"#),
                client: .put(#"{"x":1,"y":1,"z":2,"new":{"deep":[null]}}"#),
                a: [.patch(#"{"x":2}"#)], b: [.patch(#"{"y":2}"#)],
                end: #"{"x":2,"y":2,"z":2,"new":{"deep":[null]}}"#,
                fatesOfA: [.accepted], fatesOfB: [.accepted])
        } + [
            KintoCase(
                key: "lists/same-field", start: .record(#"{"title":"s"}"#),
                client: .put(#"{"title":"c"}"#), a: [.patch(#"{"title":"a"}"#)],
                b: [.patch(#"{"title":"b"}"#)], end: #"{"title":"c"}"#, fatesOfA: [.superseded],
                fatesOfB: [.superseded]),
            KintoCase(
                key: "tasks/same-field", start: .record(#"{"title":"s"}"#),
                client: .put(#"{"title":"c"}"#), a: [.patch(#"{"title":"a"}"#)],
                b: [.patch(#"{"title":"b"}"#)], end: #"{"title":"b"}"#, fatesOfA: [.accepted],
                fatesOfB: [.accepted]),
            KintoCase(
                key: "lists/same-value", start: .record(#"{"title":"s"}"#),
                a: [.patch(#"{"title":"t"}"#)], b: [.patch(#"{"title":"t"}"#)],
                end: #"{"title":"t"}"#, fatesOfA: [.accepted], fatesOfB: [.merged]),
            KintoCase(
                key: "lists/same-id", a: [.put(#"{"title":"a","x":1}"#)],
                b: [.put(#"{"title":"b","y":2}"#)], end: #"{"title":"a","x":1}"#,
                fatesOfA: [.accepted], fatesOfB: [.superseded]),
            KintoCase(
                key: "tasks/same-id", client: .put(#"{"title":"c","z":3}"#),
                a: [.put(#"{"title":"a","x":1}"#)], b: [.put(#"{"title":"b","y":2}"#)],
                end: #"{"title":"b","z":3,"x":1,"y":2}"#, fatesOfA: [.accepted],
                fatesOfB: [.accepted]),
        ]

    /// Deletions that meet edits.
    private static let deleting: [KintoCase] = [
        KintoCase(
            key: "lists/deleted-under-an-edit", start: .record(#"{"title":"s"}"#),
            client: .delete, a: [.patch(#"{"title":"a"}"#)], end: nil, fatesOfA: [.superseded]),
        KintoCase(
            key: "tasks/deleted-under-an-edit", start: .record(#"{"title":"s","n":1}"#),
            client: .delete, a: [.patch(#"{"title":"a"}"#)], end: #"{"title":"a","n":1}"#,
            fatesOfA: [.accepted]),
        KintoCase(
            key: "lists/edited-under-a-deletion", start: .record(#"{"title":"s"}"#),
            client: .put(#"{"title":"c"}"#), a: [.delete], end: #"{"title":"c"}"#,
            fatesOfA: [.superseded]),
        KintoCase(
            key: "tasks/edited-under-a-deletion", start: .record(#"{"title":"s"}"#),
            client: .put(#"{"title":"c"}"#), a: [.delete], end: nil, fatesOfA: [.accepted]),
        KintoCase(
            key: "lists/deleted-on-a-edited-on-b", start: .record(#"{"title":"s"}"#),
            a: [.delete], b: [.patch(#"{"title":"b"}"#)], end: nil, fatesOfA: [.accepted],
            fatesOfB: [.superseded]),
        KintoCase(
            key: "tasks/deleted-on-a-edited-on-b", start: .record(#"{"title":"s","n":1}"#),
            a: [.delete], b: [.patch(#"{"title":"b"}"#)], end: #"{"title":"b","n":1}"#,
            fatesOfA: [.accepted], fatesOfB: [.accepted]),
        KintoCase(
            key: "lists/edited-on-a-deleted-on-b", start: .record(#"{"title":"s"}"#),
            a: [.patch(#"{"title":"a"}"#)], b: [.delete], end: #"{"title":"a"}"#,
            fatesOfA: [.accepted], fatesOfB: [.superseded]),
        KintoCase(
            key: "tasks/edited-on-a-deleted-on-b", start: .record(#"{"title":"s"}"#),
            a: [.patch(#"{"title":"a"}"#)], b: [.delete], end: nil, fatesOfA: [.accepted],
            fatesOfB: [.accepted]),
        KintoCase(
            key: "lists/deleted-by-all", start: .record(#"{"title":"s"}"#), client: .delete,
            a: [.delete], b: [.delete], end: nil, fatesOfA: [.merged], fatesOfB: [.merged]),
        KintoCase(
            key: "tasks/deleted-by-both", start: .record(#"{"title":"s"}"#), a: [.delete],
            b: [.delete], end: nil, fatesOfA: [.accepted], fatesOfB: [.merged]),
    ]

    /// Ids that are used again.
    private static let returning: [KintoCase] = ["lists", "tasks"].flatMap { collection in
        [
            KintoCase(
                key: "\(collection)/made-anew", start: .record(#"{"title":"s","n":1}"#),
                a: [.delete, .put(#"{"title":"a"}"#)], end: #"{"title":"a"}"#,
                fatesOfA: [.accepted, .accepted]),
            KintoCase(
                key: "\(collection)/back-from-the-dead", start: .tombstone,
                b: [.put(#"{"title":"b"}"#)], end: #"{"title":"b"}"#, fatesOfB: [.accepted]),
            KintoCase(
                key: "\(collection)/deleted-there-made-anew-here",
                start: .record(#"{"title":"s","n":1}"#), client: .delete,
                a: [.delete, .put(#"{"title":"a"}"#)], end: #"{"title":"a"}"#,
                fatesOfA: [.merged, .accepted]),
        ]
    }
}
