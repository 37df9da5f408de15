// RadicaleCase.swift — edits of one item on three sides, and what they must come to.
//
// The plain client's edit is on the server first; then replica a syncs, then replica b, then both
// again. An item is one text, so that two edits always meet.

import TidemarkEvents

@testable import SyncSupport

/// One item's story; edits are summaries, and nil deletes.
struct RadicaleCase: Sendable {
    var key: String
    /// What all three start from, if anything.
    var start: String?
    var client: String??
    var a: [String?] = []
    var b: [String?] = []
    /// What is there at the end, if anything.
    var end: String?
    var fatesOfA: [MutationOutcome] = []
    var fatesOfB: [MutationOutcome] = []

    static let all = alone + meeting + deleting

    private static let alone: [RadicaleCase] = ["lists", "tasks"].flatMap { collection in
        [
            RadicaleCase(
                key: "\(collection)/created", a: ["a"], end: "a", fatesOfA: [.accepted]),
            RadicaleCase(key: "\(collection)/created-there", client: "c", end: "c"),
            RadicaleCase(
                key: "\(collection)/created-edited", b: ["b", "b2"], end: "b2",
                fatesOfB: [.accepted, .accepted]),
            RadicaleCase(
                key: "\(collection)/created-deleted", b: ["b", nil],
                fatesOfB: [.annihilated, .annihilated]),
            RadicaleCase(
                key: "\(collection)/edited", start: "s", a: ["a"], end: "a",
                fatesOfA: [.accepted]),
            RadicaleCase(key: "\(collection)/edited-there", start: "s", client: "c", end: "c"),
            RadicaleCase(
                key: "\(collection)/deleted", start: "s", a: [nil], fatesOfA: [.accepted]),
            RadicaleCase(key: "\(collection)/deleted-there", start: "s", client: .some(nil)),
            RadicaleCase(
                key: "\(collection)/made-anew", start: "s", a: [nil, "a"], end: "a",
                fatesOfA: [.accepted, .accepted]),
        ]
    }

    private static let meeting: [RadicaleCase] = [
        RadicaleCase(
            key: "lists/all-edit", start: "s", client: "c", a: ["a"], b: ["b"], end: "c",
            fatesOfA: [.superseded], fatesOfB: [.superseded]),
        RadicaleCase(
            key: "tasks/all-edit", start: "s", client: "c", a: ["a"], b: ["b"], end: "b",
            fatesOfA: [.accepted], fatesOfB: [.accepted]),
        RadicaleCase(
            key: "lists/both-create", a: ["a"], b: ["b"], end: "a", fatesOfA: [.accepted],
            fatesOfB: [.superseded]),
        RadicaleCase(
            key: "tasks/both-create", a: ["a"], b: ["b"], end: "b", fatesOfA: [.accepted],
            fatesOfB: [.accepted]),
    ]

    private static let deleting: [RadicaleCase] = [
        RadicaleCase(
            key: "lists/deleted-under-an-edit", start: "s", client: .some(nil), a: ["a"],
            fatesOfA: [.superseded]),
        RadicaleCase(
            key: "tasks/deleted-under-an-edit", start: "s", client: .some(nil), a: ["a"],
            end: "a", fatesOfA: [.accepted]),
        RadicaleCase(
            key: "lists/edited-under-a-deletion", start: "s", client: "c", a: [nil], end: "c",
            fatesOfA: [.superseded]),
        RadicaleCase(
            key: "tasks/edited-under-a-deletion", start: "s", client: "c", a: [nil],
            fatesOfA: [.accepted]),
        RadicaleCase(
            key: "lists/deleted-on-a-edited-on-b", start: "s", a: [nil], b: ["b"],
            fatesOfA: [.accepted], fatesOfB: [.superseded]),
        RadicaleCase(
            key: "tasks/deleted-on-a-edited-on-b", start: "s", a: [nil], b: ["b"], end: "b",
            fatesOfA: [.accepted], fatesOfB: [.accepted]),
        RadicaleCase(
            key: "lists/edited-on-a-deleted-on-b", start: "s", a: ["a"], b: [nil], end: "a",
            fatesOfA: [.accepted], fatesOfB: [.superseded]),
        RadicaleCase(
            key: "tasks/edited-on-a-deleted-on-b", start: "s", a: ["a"], b: [nil],
            fatesOfA: [.accepted], fatesOfB: [.accepted]),
        RadicaleCase(
            key: "tasks/deleted-by-both", start: "s", a: [nil], b: [nil],
            fatesOfA: [.accepted], fatesOfB: [.merged]),
    ]
}
