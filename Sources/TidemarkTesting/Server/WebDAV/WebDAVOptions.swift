// WebDAVOptions.swift — in what servers of WebDAV differ, as switches.

/// What a WebDAV server does where servers differ; by default one that does all that RFC 4918 asks
/// for, and nothing besides.
public struct WebDAVOptions: Sendable, Hashable {
    /// What the ETag of a folder moves with.
    @nonexhaustive public enum FolderVersions: Sendable, Hashable {
        /// Folders have no ETags.
        case none
        /// With its own members: that one comes, goes, or has another content.
        case ownMembers
        /// With everything below it: each change moves the ETags of all folders above.
        case allBelow
    }

    /// What the ETags of folders move with.
    public var folderVersions = FolderVersions.none
    /// Whether each entry has an id that it keeps when it is moved: `oc:id` and `oc:fileid`.
    public var hasFileIDs = false
    /// Whether files have checksums, `oc:checksums` and `OC-Checksum`, and that of an upload is
    /// checked.
    public var hasChecksums = false
    /// Whether the time of a file's last change can be set: by `X-OC-MTime` and `D:lastmodified`.
    public var takesTimes = false
    /// Whether all ETags are weak, so that no `If-Match` holds but `*`.
    public var hasWeakETags = false
    /// Whether the answer to an upload has its ETag.
    public var tellsETagOfUploads = true
    /// Whether the ETag of a file changes also where it is moved, and where its time is set.
    public var changesETagsOfMoved = false
    /// Whether the conditions of writes are ignored.
    public var ignoresPreconditions = false
    /// Whether an upload that is cut off leaves what came of it, instead of nothing.
    public var uploadsInPlace = false
    /// Whether a folder that is named without a slash at its end is redirected to its address with
    /// one, as by Apache.
    public var redirectsFolders = false
    /// Whether parts of files are given.
    public var hasRanges = true
    /// Whether a whole tree is listed at once; else it is refused.
    public var listsWholeTrees = true
    /// The members that stand in lists with an error, each with its status, by their paths.
    public var failingMembers: [String: Int] = [:]
    /// What can't be written, deleted or moved, each with the status of the refusal, by its path.
    public var refusals: [String: Int] = [:]
    /// How many bytes all files may have together; nil for any number.
    public var quotaBytes: Int?
    /// How many bytes a name may have.
    public var nameBytesMax = 255

    public init() {}

    /// A server that gives what ownCloud's does: ids, checksums, times, and folder versions that
    /// move with everything below.
    public static var ownCloud: WebDAVOptions {
        var options = WebDAVOptions()
        options.folderVersions = .allBelow
        options.hasFileIDs = true
        options.hasChecksums = true
        options.takesTimes = true
        options.listsWholeTrees = false
        return options
    }
}
