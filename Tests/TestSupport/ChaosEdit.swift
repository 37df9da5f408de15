// ChaosEdit.swift — an edit of anything by chance: the same few records again and again, and now
// and then one of many others.

/// One edit, for a replica or for a plain client.
package struct ChaosEdit: Sendable {
    package enum Action: Sendable { case put, patch, delete }
    /// What documents are made of.
    package enum Form: Sendable {
        /// JSON with some fields.
        case fields
        /// One field, `data`, with an item of a calendar.
        case items

        /// How many other records of a collection there are; items are read one by one.
        fileprivate var cold: Int { self == .items ? 8 : 16 }
    }

    /// `collection/id`.
    package let key: String
    package let action: Action
    /// The document, or the fields to set.
    package let json: String
    /// The text of the item that the document holds; empty for one of fields.
    package let text: String

    /// A record that most of the time only its maker may write, where there are permissions.
    package static let closed = "tasks/cold-2"

    /// How many records of a collection everybody edits all the time.
    private static let hot = 3

    /// - Parameters:
    ///   - note: a text that no other edit has.
    ///   - key: what to edit; anything when nil.
    package init(
        _ random: inout SplitMix64, note: String, of key: String? = nil, in form: Form = .fields
    ) {
        let any = "\(random.pick(["lists", "tasks"]))/\(Self.id(&random, form))"
        let key = key ?? any
        self.key = key
        switch random.below(10) {
        case 0, 1: action = .delete
        case 2...4: action = .put
        default: action = .patch
        }
        if form == .items {
            // Two sides now and then mean the same.
            let summary = random.once(in: 6) ? "\(random.below(3))" : note
            text = Self.item(uid: key.replacing("/", with: "-"), summary)
            json = #"{"data":"\#(text.replacing("\r\n", with: #"\r\n"#))"}"#
            return
        }
        text = ""
        // Few values, so that two sides often mean the same; the note says whose edit it was.
        var fields = [#""\#(random.pick(["x", "y", "z"]))":\#(random.below(4))"#]
        if random.once(in: 2) { fields.append(#""note":"\#(note)""#) }
        if key.hasPrefix("tasks/"), random.once(in: 3) {
            fields.append(#""list":"\#(Self.id(&random, form))""#)
        }
        json = "{" + fields.joined(separator: ",") + "}"
    }

    private static func id(_ random: inout SplitMix64, _ form: Form) -> String {
        random.once(in: 3) ? "cold-\(random.below(form.cold))" : "hot-\(random.below(hot))"
    }

    /// A task as Radicale writes it, so that it comes back as it was sent.
    private static func item(uid: String, _ summary: String) -> String {
        [
            "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Tidemark//Test//EN", "BEGIN:VTODO",
            "DTSTAMP:20260101T000000Z", "SUMMARY:\(summary)", "UID:\(uid)", "END:VTODO",
            "END:VCALENDAR", "",
        ].joined(separator: "\r\n")
    }
}
