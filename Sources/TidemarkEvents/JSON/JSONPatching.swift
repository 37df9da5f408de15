// JSONPatching.swift — an object's bytes with some of its members changed, made of the places at
// which its members stand.

extension JSON {
    /// The bytes of an object with some members changed, as ``JSONDocument/applying(set:unset:)``
    /// makes them.
    ///
    /// - Parameter bytes: an object that was checked before; of anything else the result means
    ///   nothing.
    package static func applying(
        set: [(key: String, value: [UInt8])], unset: [String], to bytes: [UInt8]
    ) -> [UInt8] {
        var patched = PatchedObject(bytes, set, unset)
        forEachMember(of: bytes[...]) { key, value in
            patched.take(key.lowerBound - 1..<key.upperBound + 1, value)
            return true
        }
        return patched.finish()
    }
}

/// An object's bytes while its members are taken into them, each as it is or changed.
struct PatchedObject {
    private let source: [UInt8]
    private var changes: MemberChanges
    private var output: [UInt8] = []
    /// What of the source is to be copied next, as it stands there.
    private var run = 0..<0
    private var isChanged = false

    init(_ source: [UInt8], _ set: [(key: String, value: [UInt8])], _ unset: [String]) {
        self.source = source
        changes = MemberChanges(set, unset)
        let news = set.reduce(0) { $0 + $1.key.utf8.count + $1.value.count + 4 }
        output.reserveCapacity(source.count + news)
        output.append(UInt8(ascii: "{"))
    }

    /// Takes the member at these places of the source, the key's with its quotes; to be called in
    /// the order in which they stand.
    mutating func take(_ key: Range<Int>, _ value: Range<Int>) {
        switch changes.take(source[key]) {
        case .none: keep(key, value)
        case .unset: isChanged = true
        case .set(let new):
            if new[...] != source[value] { isChanged = true }
            put(new[...], after: source[key])
        }
    }

    /// The object's bytes, once all members were taken.
    mutating func finish() -> [UInt8] {
        for (key, value) in changes.rest {
            isChanged = true
            var quoted: [UInt8] = []
            JSON.appendString(key, to: &quoted)
            put(value[...], after: quoted[...])
        }
        guard isChanged else { return source }
        copyRun()
        output.append(UInt8(ascii: "}"))
        return output
    }

    private mutating func keep(_ key: Range<Int>, _ value: Range<Int>) {
        // Only the colon stands between the two, and only a comma before the next.
        guard key.upperBound + 1 == value.lowerBound else {
            return put(source[value], after: source[key])
        }
        if !run.isEmpty, run.upperBound + 1 == key.lowerBound {
            run = run.lowerBound..<value.upperBound
        } else {
            copyRun()
            run = key.lowerBound..<value.upperBound
        }
    }

    private mutating func put(_ value: ArraySlice<UInt8>, after key: ArraySlice<UInt8>) {
        copyRun()
        separate()
        output.append(contentsOf: key)
        output.append(UInt8(ascii: ":"))
        output.append(contentsOf: value)
    }

    private mutating func copyRun() {
        guard !run.isEmpty else { return }
        separate()
        output.append(contentsOf: source[run])
        run = 0..<0
    }

    private mutating func separate() {
        if output.count > 1 { output.append(UInt8(ascii: ",")) }
    }
}

/// Which members of an object are given another value, and which are left out.
///
/// Of several for one key the last counts, and what is given a value is not left out.
private struct MemberChanges {
    /// What becomes of a member.
    enum Change {
        case none
        case unset
        case set([UInt8])
    }

    private let set: [(key: String, value: [UInt8])]
    private let unset: [String]
    /// Which of `set` no member was yet.
    private var isLeft: [Bool]
    /// Where keys stand in `set`, and what `unset` says, of more than a few.
    private var places: [ExactString: Int] = [:]
    private var gone: Set<ExactString> = []
    private let isFew: Bool
    /// So many keys are looked through in less time than a table takes.
    private static let fewMax = 16

    init(_ set: [(key: String, value: [UInt8])], _ unset: [String]) {
        self.set = set
        self.unset = unset
        isLeft = Array(repeating: true, count: set.count)
        isFew = set.count + unset.count <= Self.fewMax
        guard !isFew else { return }
        places.reserveCapacity(set.count)
        for (index, item) in set.enumerated() { places[ExactString(item.key)] = index }
        gone = Set(unset.map(ExactString.init))
    }

    /// What becomes of the member under a key as it stands in the text, quotes included.
    mutating func take(_ quoted: ArraySlice<UInt8>) -> Change {
        let key = JSON.unescapedText(quoted)?[...] ?? quoted.dropFirst().dropLast()
        if isFew {
            if let place = set.lastIndex(where: { Self.isKey($0.key, key) }) {
                return take(at: place)
            }
            return unset.contains { Self.isKey($0, key) } ? .unset : .none
        }
        let text = ExactString(String(decoding: key, as: UTF8.self))
        if let place = places[text] { return take(at: place) }
        return gone.contains(text) ? .unset : .none
    }

    private mutating func take(at place: Int) -> Change {
        isLeft[place] = false
        return .set(set[place].value)
    }

    /// What no member was, in the order given.
    var rest: [(key: String, value: [UInt8])] {
        var isLeft = isLeft
        return set.compactMap { key, _ in
            let exact = ExactString(key)
            let last = isFew ? set.lastIndex { ExactString($0.key) == exact } : places[exact]
            guard let last, isLeft[last] else { return nil }
            isLeft[last] = false
            return (key, set[last].value)
        }
    }

    private static func isKey(_ text: String, _ key: ArraySlice<UInt8>) -> Bool {
        text.utf8.count == key.count && text.utf8.elementsEqual(key)
    }
}
