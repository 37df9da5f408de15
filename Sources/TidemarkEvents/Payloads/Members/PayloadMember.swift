// PayloadMember.swift — one line of a payload's table: a member's name, how it is read and written,
// and what stands in it.

/// What stands in a member, by which a capsule is redacted: what is not ours is replaced.
package indirect enum PayloadContent: Sendable, Hashable {
    /// Numbers and words of ours; any other text is replaced.
    case plain
    /// A word of ours, or any other text.
    case word
    /// An id, a message, a name: one text, or several.
    case text
    /// An account, a device.
    case owner
    /// Why something failed, in words of somebody else.
    case reason
    /// Words of ours around those of somebody else.
    case detail
    /// A version, a cursor or an epoch.
    case token
    /// The same by the names of collections.
    case tokensByName
    /// Microseconds since 1970, one or several.
    case time
    /// The same by ids.
    case timesByID
    /// A date as HTTP writes it.
    case httpDate
    /// The path of a request, from the server's root on.
    case path
    /// A path, or a whole address, of what comes next.
    case address
    /// A header field of an answer: what it means the server's adapter says.
    case headerField
    /// Where a list goes on: a version, or an address.
    case cursor
    /// What a run is to do: a word of ours, names of collections, entities, or parts of those.
    case scope
    /// An entity: its collection and its id.
    case entity
    /// The part that a list is of: a word of ours, or its parameters; in a list after its
    /// collection.
    case listScope
    /// Where a part of a feed goes on: an object with a key of the server, and perhaps an id.
    case feedCursor
    /// The same by the names of parts.
    case cursors
    /// What was sent or answered, as JSON.
    case body
    /// The same in Base64.
    case base64
    /// The length of a body that lies beside the log.
    case bodyLength
    /// The name of what is kept beside the log for a time, and in no redacted capsule.
    case kept
    /// A word of ours, or an object with a document.
    case ruleAnswer
    /// Ids, each with a version, and perhaps a time.
    case references
    /// An object with members of ours, or several.
    case object([PayloadMemberShape])
}

/// A member without its type: what tools need to know of it.
package struct PayloadMemberShape: Sendable, Hashable {
    /// Which members it is.
    package enum Extent: Sendable, Hashable {
        /// The one of the name.
        case one
        /// All that begin with the name, and end with what they are about.
        case prefix
        /// All that begin with a capital letter, and are no others.
        case headerFields
    }

    /// The name, or a pattern of what it begins with.
    package var name: String
    /// Which members it is.
    package var extent = Extent.one
    /// What stands in it.
    package var content: PayloadContent
}

extension [PayloadMemberShape] {
    /// The member of that name; nil for one of another version.
    package func member(_ name: String) -> PayloadMemberShape? {
        first { shape in
            switch shape.extent {
            case .one: ExactString(shape.name) == ExactString(name)
            case .prefix: name.hasPrefix(shape.name)
            case .headerFields: name.beginsWithCapital
            }
        }
    }
}

extension String {
    /// Whether it begins as the names of header fields do, and no member of ours does.
    package var beginsWithCapital: Bool {
        utf8.first.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } ?? false
    }
}

/// A member of a payload.
package struct PayloadMember<Payload: Sendable>: Sendable {
    /// What tools know of it: one member, or those of a group.
    package let shapes: [PayloadMemberShape]
    fileprivate let reader: @Sendable (JSONDocument, inout Payload) throws(PayloadProblem) -> Void
    fileprivate let writer: @Sendable (Payload, inout MemberWriter) -> Void

    func read(_ document: JSONDocument, _ payload: inout Payload) throws(PayloadProblem) {
        try reader(document, &payload)
    }

    func write(_ payload: Payload, _ output: inout MemberWriter) { writer(payload, &output) }
}

// Inlined, so that the compiler reads and writes a payload's members itself: following key paths
// at run time takes most of the time of a payload that says little.

extension PayloadMember {
    /// A member that is always written, unless `omitting` says that its value says nothing.
    @inline(__always)
    package init<Value: Sendable>(
        _ name: String, _ path: any WritableKeyPath<Payload, Value> & Sendable,
        _ codec: PayloadCodec<Value>, _ content: PayloadContent,
        omitting: (@Sendable (Value) -> Bool)? = nil
    ) {
        shapes = [PayloadMemberShape(name: name, content: content)]
        reader = { (document, payload) throws(PayloadProblem) in
            if let value = try codec.value(of: name, in: document) {
                payload[keyPath: path] = value
            }
        }
        writer = { payload, output in
            let value = payload[keyPath: path]
            if omitting?(value) == true { return }
            output.add(name) { codec.append(value, &$0) }
        }
    }

    /// A member that is written where there is a value.
    @inline(__always)
    package init<Value: Sendable>(
        _ name: String, _ path: any WritableKeyPath<Payload, Value?> & Sendable,
        _ codec: PayloadCodec<Value>, _ content: PayloadContent
    ) {
        shapes = [PayloadMemberShape(name: name, content: content)]
        reader = { (document, payload) throws(PayloadProblem) in
            if let value = try codec.value(of: name, in: document) {
                payload[keyPath: path] = value
            }
        }
        writer = { payload, output in
            guard let value = payload[keyPath: path] else { return }
            output.add(name) { codec.append(value, &$0) }
        }
    }

    /// Members whose names begin alike and end with what each is about; written in their order.
    @inline(__always)
    package init<Value: Sendable & Hashable>(
        prefix: String, _ path: any WritableKeyPath<Payload, [Named<Value>]> & Sendable,
        _ codec: PayloadCodec<Value>, _ content: PayloadContent
    ) {
        shapes = [PayloadMemberShape(name: prefix, extent: .prefix, content: content)]
        reader = { (document, payload) throws(PayloadProblem) in
            for name in document.keys where name.hasPrefix(prefix) {
                guard let value = try codec.value(of: name, in: document) else { continue }
                let rest = String(name.dropFirst(prefix.count))
                payload[keyPath: path].append(Named(rest, value))
            }
        }
        writer = { payload, output in
            for named in payload[keyPath: path] {
                output.add(prefix + named.name) { codec.append(named.value, &$0) }
            }
        }
    }

    /// Header fields of an answer, each a text under its name, which begins with a capital letter;
    /// written in their order.
    ///
    /// What is no text is a member of a newer version, and passed over.
    ///
    /// - Parameter others: those that have members of their own.
    @inline(__always)
    package init(
        fields path: any WritableKeyPath<Payload, [Named<String>]> & Sendable,
        besides others: Set<String>
    ) {
        shapes = [
            PayloadMemberShape(name: "[A-Z]", extent: .headerFields, content: .headerField)
        ]
        reader = { (document, payload) throws(PayloadProblem) in
            for name in document.keys where name.beginsWithCapital && !others.contains(name) {
                let isText =
                    name == AskedRest.member || document.value(name)?.stringValue != nil
                guard isText,
                    let value = try PayloadCodec<String>.text.value(of: name, in: document)
                else { continue }
                payload[keyPath: path].append(Named(name, value))
            }
        }
        writer = { payload, output in
            for field in payload[keyPath: path] {
                output.add(field.name) { PayloadCodec<String>.text.append(field.value, &$0) }
            }
        }
    }

    /// The members of a group that several kinds have.
    @inline(__always)
    package init<Group: MemberPayload>(of path: any WritableKeyPath<Payload, Group> & Sendable) {
        shapes = Group.members.flatMap(\.shapes)
        let nothing = Group()
        let isSilent = nothing.encoded == Array("{}".utf8)
        reader = { (document, payload) throws(PayloadProblem) in
            var group = payload[keyPath: path]
            for member in Group.members { try member.read(document, &group) }
            payload[keyPath: path] = group
        }
        writer = { payload, output in
            let group = payload[keyPath: path]
            // Most groups say nothing.
            if isSilent, group == nothing { return }
            for member in Group.members { member.write(group, &output) }
        }
    }
}

extension PayloadCodec {
    /// The value of a member; nil where there is none, or null, or a word of a newer version.
    fileprivate func value(
        of name: String, in document: JSONDocument
    ) throws(PayloadProblem) -> Value? {
        guard let raw = document.rawValue(name) else { return nil }
        if !keepsNull, raw.elementsEqual("null".utf8) { return nil }
        if let value = read(raw) { return value }
        if isOpen, raw.first == UInt8(ascii: "\"") { return nil }
        throw PayloadProblem(name, expected: type)
    }
}
