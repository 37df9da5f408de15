// TransportReceiver.swift — where the body of an answer goes as it comes: memory, or a file.

package import HTTPTypes
import TidemarkStore

/// Takes the body of one answer, part by part.
package struct TransportReceiver: Sendable {
    /// How many bytes of the body have come.
    package private(set) var count = 0
    /// Whether nothing is taken of the answer that has begun but its head.
    package private(set) var isOver = false

    /// How much is kept of an answer that was to go to a file and is none, in bytes.
    private static let keptMax = 64 << 10

    private let file: TransportFile?
    private let target: PartFile?
    /// Where in the file the body begins; nil while it stays in memory.
    private var place: Int?
    private var body: [UInt8] = []
    /// Up to how many bytes of the body the disk is not asked again for its room.
    private var roomFor = 0

    /// How many bytes come without asking again where there is room for so many: a part for each of
    /// the files that a model lets come at the same time, at most 64.
    package static func unasked(of room: Int) -> Int { min(room / 64, 1 << 20) }

    /// Opens the file, which stays as it is until an answer for it begins.
    ///
    /// - Throws: ``TransportError``: `file` where it can't be written, or is too short.
    package init(into file: TransportFile? = nil) throws(TransportError) {
        self.file = file
        do throws(StoreError) {
            target = try file.map { file throws(StoreError) in
                try PartFile(file.path, writing: true, atLeast: file.offset)
            }
        } catch { throw TransportError(error) }
    }

    /// Begins the body of an answer; what came of an answer before, a redirect, is dropped.
    ///
    /// - Throws: ``TransportError``: `file`.
    package mutating func begin(_ head: HTTPResponse) throws(TransportError) {
        drop()
        guard let file, let target else { return }
        isOver = TransportTransfer.isWithoutBody(head, for: file)
        place = TransportTransfer.place(of: head, in: file)
        guard let place else { return }
        do throws(StoreError) { try target.cut(at: place) } catch { throw TransportError(error) }
    }

    /// Takes the next bytes.
    ///
    /// - Throws: ``TransportError``: `file`, `tooLarge`, `diskFull`.
    package mutating func take(_ bytes: [UInt8]) throws(TransportError) {
        try check(length: count + bytes.count)
        if let target, let place {
            do throws(StoreError) { try target.write(bytes, at: place + count) } catch {
                throw TransportError(error)
            }
        } else if target == nil || body.count < Self.keptMax {
            body += bytes
        }
        count += bytes.count
    }

    /// Refuses an answer whose body is longer than its file may be, or of which so much has no room
    /// on the disk.
    ///
    /// A disk is not filled up: what the user changes meanwhile has to be stored.
    ///
    /// - Throws: ``TransportError``: `tooLarge`, `diskFull`.
    package mutating func check(length: Int) throws(TransportError) {
        guard let target, place != nil else { return }
        if let bytesMax = file?.bytesMax, length > bytesMax {
            throw TransportError(.tooLarge, detail: "more than \(bytesMax) body bytes")
        }
        guard length > roomFor else { return }
        do throws(StoreError) {
            let room = try target.expectRoom(for: length - count)
            roomFor = count + Self.unasked(of: room)
        } catch { throw TransportError(error) }
    }

    /// Forgets what came; a file keeps what was written to it.
    package mutating func drop() {
        isOver = false
        place = nil
        body = []
        (count, roomFor) = (0, 0)
    }

    /// What came, as an answer.
    package func transfer(_ response: HTTPResponse) -> TransportTransfer {
        TransportTransfer(response: response, body: body, written: place == nil ? nil : count)
    }
}
