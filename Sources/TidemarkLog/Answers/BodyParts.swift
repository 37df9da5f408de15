// BodyParts.swift — a body without what is the payload of an event already, and the way back.

import TidemarkEvents

extension KeptAnswer {
    /// The shortest payload that is worth to be left out, in bytes.
    private static let sharedBytesMin = 32
    /// After so many payloads that are not in it as they are, no more are looked for: the server
    /// writes its documents another way.
    private static let missesMax = 8

    /// It with positions in the place of payloads, which lie in its body in their order.
    func cut(by payloads: [(position: Position, bytes: [UInt8])]) -> KeptAnswer {
        guard case .bytes(let body)? = parts.first, parts.count == 1 else { return self }
        var cut = self
        cut.parts = []
        var (rest, misses) = (0, 0)
        for (position, bytes) in payloads where bytes.count >= Self.sharedBytesMin {
            guard misses < Self.missesMax else { break }
            guard let place = body.span.firstPlace(of: bytes.span, from: rest) else {
                misses += 1
                continue
            }
            if place > rest { cut.parts.append(.bytes(Array(body[rest..<place]))) }
            cut.parts.append(.payload(position))
            rest = place + bytes.count
        }
        if rest < body.count { cut.parts.append(.bytes(Array(body[rest...]))) }
        return cut
    }

    /// It with its body in one part again.
    ///
    /// - Parameter payload: that of an event.
    func joined(_ payload: (Position) throws -> [UInt8]) rethrows -> KeptAnswer {
        var body: [UInt8] = []
        for part in parts {
            switch part {
            case .bytes(let bytes): body += bytes
            case .payload(let position): body += try payload(position)
            }
        }
        var whole = self
        whole.body = body
        return whole
    }
}
