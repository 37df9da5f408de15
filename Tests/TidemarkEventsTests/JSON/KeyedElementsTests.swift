// KeyedElementsTests.swift — lists whose elements are told by keys: their names, and what is kept.

import TestSupport
import Testing
import TidemarkEvents

private let values = KeyedList("values", by: "de")

private func document(_ text: String) throws -> JSONDocument {
    try JSONDocument(parsing: Array(text.utf8))
}

private func text(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: Array(bytes), as: UTF8.self)
}

@Suite struct `elements of keyed lists` {
    @Test(arguments: [
        ("DE1", "/values/DE1"), ("", "/values/"), ("a/b", "/values/a~1b"), ("~", "/values/~0"),
        ("~1", "/values/~01"), ("é", "/values/é"), ("e\u{301}", "/values/e\u{301}"),
        (String(repeating: "k", count: 400), "/values/" + String(repeating: "k", count: 400)),
    ])
    func `have a name that says their key`(_ key: String, _ name: String) throws {
        #expect(values.name(of: key) == name)
        let read = try #require(values.key(in: name))
        #expect(Array(read.utf8) == Array(key.utf8))
        #expect(KeyedList.field(ofElement: name) == "values")
    }

    @Test(arguments: [
        "values", "/values", "/value/DE1", "values/DE1", "/values/a/b", "/values/~2", "",
    ])
    func `have no name that a field may have`(_ name: String) {
        #expect(values.key(in: name) == nil)
    }

    @Test func `of a field with a slash have its name escaped`() {
        let list = KeyedList("a/b~", by: "de")

        #expect(list.name(of: "x") == "/a~1b~0/x")
        #expect(list.key(in: "/a~1b~0/x") == "x")
        #expect(KeyedList.field(ofElement: "/a~1b~0/x") == "a/b~")
    }

    @Test(arguments: [
        ("1", "1"), ("1.0", "1"), ("10e-1", "1"), ("1.50", "15e-1"), ("15e-1", "15e-1"),
        ("-0", "0"), ("123456789012345678901", "123456789012345678901e0"),
    ])
    func `have one name for all writings of a number`(_ number: String, _ key: String) throws {
        #expect(KeyedList.key(try JSONValue(parsing: Array(number.utf8))) == key)
    }

    @Test(arguments: [
        (#"{"values":7}"#, "it is no list"), (#"{"values":{"DE1":1}}"#, "it is no list"),
        (#"{"values":[{"de":"A"},1]}"#, "[1] is no object"),
        (#"{"values":[{"x":"A"}]}"#, "[0] has no key"),
        (#"{"values":[{"de":null}]}"#, "the key of [0] is neither a text nor a number"),
        (#"{"values":[{"de":["A"]}]}"#, "the key of [0] is neither a text nor a number"),
        (#"{"values":[{"de":"A"},{"de":"A"}]}"#, "two elements have the key A"),
        (#"{"values":[{"de":1},{"de":"1"}]}"#, "two elements have the key 1"),
        (#"{"/values/A":1}"#, "the field /values/A has the name of an element"),
    ])
    func `that can't be told make the list one field`(_ json: String, _ problem: String) throws {
        let document = try document(json)
        guard case .whole(let found) = document.form(of: values) else {
            Issue.record("\(json) has elements")
            return
        }
        #expect(found.description == problem)
        #expect(try document.expanded([values]) == document)
    }

    @Test func `stand under their names in an expanded document`() throws {
        let json = #"{"id":"e","values":[ {"de":"A", "v":1.0}, {"v":2,"de":7} ],"n":1}"#

        #expect(
            text(try document(json).expanded([values]).bytes)
                == #"{"id":"e","values":[],"/values/A":{"de":"A", "v":1.0},"#
                + #""/values/7":{"v":2,"de":7},"n":1}"#)
        let empty = try document(#"{"values":[]}"#)
        #expect(text(try empty.expanded([values], keepsEmptied: false).bytes) == #"{"values":[]}"#)
    }

    @Test func `differ one by one, in whatever order`() throws {
        let old = try document(#"{"n":1,"values":[{"de":"A","v":1},{"de":"B","v":2},{"de":"C"}]}"#)
        let new = try document(
            #"{"values":[{"de":"D"},{"v":2.0,"de":"B"},{"de":"A","v":3}],"n":2}"#)

        let patch = Patch(from: old, to: new, [values])

        #expect(
            text(patch.encoded)
                == #"{"set":{"n":2,"/values/D":{"de":"D"},"/values/A":{"de":"A","v":3}},"#
                + #""unset":["/values/C"]}"#)
        #expect(
            text(patch.applied(to: old, [values]))
                == #"{"n":2,"values":[{"de":"A","v":3},{"de":"B","v":2},{"de":"D"}]}"#)
    }

    @Test(arguments: [
        (#"{}"#, #"{"values":[]}"#, #"{"set":{"values":[]},"unset":[]}"#),
        (#"{"values":[{"de":"A"}]}"#, "{}", #"{"set":{},"unset":["values"]}"#),
        (#"{"values":[{"de":"A"}]}"#, #"{"values":null}"#, #"{"set":{"values":null},"unset":[]}"#),
        (#"{"values":[{"de":"A"}]}"#, #"{"values":[]}"#, #"{"set":{},"unset":["/values/A"]}"#),
        (
            #"{"values":null}"#, #"{"values":[{"de":"A"}]}"#,
            #"{"set":{"/values/A":{"de":"A"}},"unset":[]}"#
        ),
        (
            #"{"values":[{"de":"A"},{"de":"A"}]}"#, #"{"values":[{"de":"A"}]}"#,
            #"{"set":{"values":[{"de":"A"}]},"unset":[]}"#
        ),
    ])
    func `change as a whole where a list begins, ends or can't be told`(
        _ old: String, _ new: String, _ expected: String
    ) throws {
        let (old, new) = (try document(old), try document(new))

        let patch = Patch(from: old, to: new, [values])

        #expect(text(patch.encoded) == expected)
        #expect(Patch(from: new, to: try document(text(patch.applied(to: old, [values])))).isEmpty)
    }

    @Test func `that nobody touched keep their bytes, and a list without changes all of them`()
        throws
    {
        let list = try document(#"{"values":[ {"de":"A",  "v":1.0} , {"de":"B"} ]}"#)

        let same = Patch(
            set: [.init("/values/B", Array(#"{"de":"B"}"#.utf8))], unset: ["/values/X"])
        let other = Patch(set: [.init("/values/B", Array(#"{"de":"B","v":2}"#.utf8))])

        #expect(same.applied(to: list, [values]) == list.bytes)
        #expect(
            text(other.applied(to: list, [values]))
                == #"{"values":[{"de":"A",  "v":1.0},{"de":"B","v":2}]}"#)
    }

    @Test func `are set and removed wherever there is no list, or one with a key twice`() throws {
        let patch = Patch(
            set: [.init("/values/A", Array(#"{"de":"A"}"#.utf8))], unset: ["/values/B"])

        func applied(_ json: String) throws -> String {
            text(patch.applied(to: try document(json), [values]))
        }

        #expect(try applied("{}") == #"{"values":[{"de":"A"}]}"#)
        #expect(try applied(#"{"values":null}"#) == #"{"values":[{"de":"A"}]}"#)
        #expect(try applied(#"{"values":7}"#) == #"{"values":[{"de":"A"}]}"#)
        #expect(
            try applied(#"{"values":[{"de":"A","v":1},7,{"de":"B"},{"de":"A","v":2}]}"#)
                == #"{"values":[{"de":"A"},7]}"#)
        #expect(
            text(Patch(unset: ["/values/B"]).applied(to: try document("{}"), [values])) == "{}")
    }

    @Test func `come after a list that the same patch sets as a whole`() throws {
        let patch = Patch(set: [
            .init("/values/A", Array(#"{"de":"A","v":2}"#.utf8)),
            .init("values", Array(#"[{"de":"A"},{"de":"B"}]"#.utf8)),
        ])

        #expect(
            text(patch.applied(to: try document(#"{"values":[{"de":"C"}]}"#), [values]))
                == #"{"values":[{"de":"A","v":2},{"de":"B"}]}"#)
        #expect(
            patch.setDocument([values]).map { text($0.bytes) }
                == #"{"values":[{"de":"A","v":2},{"de":"B"}]}"#)
    }

    @Test(arguments: [0x5EED_0801, 0x5EED_0802] as [UInt64])
    func `make of one document another, whatever lists they hold`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for round in 0..<2_000 {
            let (old, new) = (
                try document(random.listDocument()), try document(random.listDocument())
            )

            let patch = Patch(from: old, to: new, [values])
            let result = try document(text(patch.applied(to: old, [values])))

            let place: Comment = "seed \(seed), round \(round)"
            #expect(Patch(from: result, to: new, [values]).isEmpty, place)
            #expect(try Patch(parsing: patch.encoded) == patch, place)
            // Elements that stay keep their order.
            guard case .elements(let before) = old.form(of: values),
                case .elements(let after) = result.form(of: values)
            else { continue }
            let stay = before.keys.filter(after.keys.contains)
            #expect(Array(after.keys.prefix(stay.count)) == stay, place)
        }
    }
}

extension SplitMix64 {
    /// A document with a list of up to four elements, or something else in its place.
    fileprivate mutating func listDocument() -> String {
        switch below(8) {
        case 0: return "{}"
        case 1: return #"{"values":null}"#
        case 2: return #"{"values":[{"de":"A"},{"de":"A"}]}"#
        default: break
        }
        var keys = ["\"A\"", "\"a/b\"", "7", "\"\"", "\"~\""]
        let elements = (0..<below(5)).map { _ in
            #"{"de":\#(keys.remove(at: below(keys.count))),"v":\#(below(3))}"#
        }
        return #"{"n":\#(below(2)),"values":[\#(elements.joined(separator: ","))]}"#
    }
}
