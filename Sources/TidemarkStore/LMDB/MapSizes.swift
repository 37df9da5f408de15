// MapSizes.swift — how large a map is asked for, and what instead where the system has no address
// space for so much.

/// The sizes of a map in bytes, each a multiple of 64 KiB, which every page size divides.
enum MapSizes {
    /// What a map has at least, where that much is wanted, however many stores are open.
    private static let leastShare = 1 << 30

    /// What is wanted for a file that is opened beside others: what one alone would take, divided
    /// among them, with room for the file to become four times as long.
    ///
    /// Where the process may have only so much, no more than a sixteenth of that, unless the file
    /// needs more: the map grows, and memory wants room, too.
    ///
    /// - Parameters:
    ///   - stores: how many are open then.
    ///   - addressBytes: how much address space the process may have; nil for no limit.
    static func share(
        of wanted: Int, stores: Int, fileBytes: Int, addressBytes: Int?
    ) -> Int {
        let share = max(wanted / stores, leastShare, 4 * min(fileBytes, wanted))
        let most = max((addressBytes ?? .max) / 16, least(for: fileBytes))
        return min(wanted, share, most)
    }

    /// What to open a file with, one after the other: as much as is wanted, half of that and so on,
    /// last what the file needs and a little room.
    static func opening(wanted: Int, fileBytes: Int) -> [Int] {
        let least = least(for: fileBytes)
        var sizes = [roundedUp(wanted)]
        while let last = sizes.last, last > least {
            sizes.append(max(roundedUp(last / 2), least))
        }
        return sizes
    }

    /// What a full map of fewer than `most` bytes may become, the largest first: twice as large,
    /// then larger by half as much and so on.
    static func growth(from bytes: Int, most: Int) -> [Int] {
        let more = roundedUp(min(bytes * 2, most)) - bytes
        return [1, 2, 4, 8, 16].map { roundedUp(bytes + more / $0) }
    }

    /// What a map becomes where another process made the file longer than it: doubled as often as
    /// that takes, or else what the file needs and a little room.
    static func adoption(from bytes: Int, fileBytes: Int) -> [Int] {
        var doubled = max(bytes, 1 << 16)
        while doubled < fileBytes { doubled *= 2 }
        let least = least(for: fileBytes)
        return [roundedUp(doubled), min(roundedUp(doubled), least)]
    }

    /// What a file needs, and a little room.
    private static func least(for fileBytes: Int) -> Int {
        roundedUp(fileBytes + fileBytes / 8 + (1 << 20))
    }

    private static func roundedUp(_ bytes: Int) -> Int { (bytes + 0xFFFF) & ~0xFFFF }
}
