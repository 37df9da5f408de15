// WebDAVListing.swift — the list of a folder: what is taken of it, and what says that it is not
// whole.

import TidemarkEvents
import TidemarkSync

/// What a list of a folder holds.
struct WebDAVListing {
    /// The folder itself, where the list names it as one.
    var folder: WebDAVResource?
    /// What lies in it, in the server's order.
    var records: [ServerRecord] = []
    /// What can't be taken.
    var unreadable: [UnreadableRecord] = []
    /// Whether what is missing may be there all the same.
    var isIncomplete = false

    /// Reads a list.
    ///
    /// - Parameter path: that of the folder.
    init(
        _ responses: [Multistatus.Response], of path: String, _ collection: CollectionModel,
        _ places: WebDAVPlaces
    ) {
        let depth = Self.depth(path)
        let inside = path.isEmpty ? "" : path + "/"
        var found: [(path: String, response: Multistatus.Response)] = []
        var times: [ExactString: Int] = [:]
        for response in responses {
            switch places.path(ofHref: response.href) {
            case .failure(let stray): passOver(response, id: nil, stray.problem)
            case .success(let place):
                let isSelf = ExactString(place) == ExactString(path)
                let isBelow =
                    place.utf8.starts(with: inside.utf8) && Self.depth(place) == depth + 1
                guard isSelf || isBelow else {
                    passOver(response, id: nil, "an address that is not in this folder")
                    continue
                }
                found.append((place, response))
                times[ExactString(place), default: 0] += 1
            }
        }
        for (place, response) in found {
            if times[ExactString(place)] != 1 {
                passOver(response, id: place, "an address that the list names twice")
            } else if ExactString(place) == ExactString(path) {
                folder = response.properties.map { WebDAVResource($0, href: response.href) }
            } else if let properties = response.properties {
                records.append(
                    WebDAVResource(properties, href: response.href).record(place, collection))
            } else {
                let status = response.status.map { "status \($0)" } ?? "no properties"
                passOver(response, id: place, "an entry with \(status)")
            }
        }
        guard folder?.isFolder != true else { return }
        unreadable.append(
            UnreadableRecord(
                id: path.isEmpty ? nil : path, bytes: Array(path.utf8),
                problem: folder == nil
                    ? "a list without the folder itself" : "a list of what is a file"))
        folder = nil
        isIncomplete = true
    }

    /// A folder that can't be listed.
    init(path: String, status: Int) {
        isIncomplete = true
        unreadable = [
            UnreadableRecord(
                id: path, bytes: Array(path.utf8), problem: "a list with status \(status)")
        ]
    }

    private mutating func passOver(
        _ response: Multistatus.Response, id: String?, _ problem: String
    ) {
        // An id that is empty is none: it would be the root.
        let id = id?.isEmpty == true ? nil : id
        unreadable.append(
            UnreadableRecord(id: id, bytes: Array(response.href.utf8), problem: problem))
        isIncomplete = true
    }

    /// The list as a page: its cursor is the version of the folder, where the list is whole.
    var page: ListPage {
        var page = ListPage(
            records: records, unreadable: unreadable, next: nil,
            cursor: isIncomplete ? nil : folder?.version?.listCursor)
        // Of one that is named, only that one is not known.
        page.isPartial = folder == nil || unreadable.contains { $0.id == nil }
        return page
    }

    /// How many names a path has.
    private static func depth(_ path: String) -> Int {
        path.isEmpty ? 0 : path.utf8.count { $0 == UInt8(ascii: "/") } + 1
    }
}

extension WebDAVVersion {
    /// The version by which a folder's list is known again; nil where the server tells none.
    fileprivate var listCursor: Revision? { tag == nil ? nil : revision }
}
