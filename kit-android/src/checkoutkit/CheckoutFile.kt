// The file of the outbox: JSON, replaced as a whole. Not thread-safe; `Checkouts` guards it.

package checkoutkit

import java.io.File
import java.io.FileOutputStream
import java.io.IOException

/**
 * A checkout that has begun and is not over.
 *
 * @property contextId the id with which the page was opened.
 * @property userId the user for whom it was begun.
 * @property plyContext the context, until the relay has it; then null.
 * @property begunAtMillis when the customer tapped, in milliseconds since 1970.
 * @property attempts posts that failed.
 * @property nextAttemptMillis when the next post is due, in milliseconds since 1970.
 */
internal data class CheckoutRecord(
  val contextId: String, val userId: String, val plyContext: String?, val begunAtMillis: Long, val attempts: Int,
  val nextAttemptMillis: Long
)

internal class CheckoutFile(private val file: File) {
  private val next = File(file.path + ".next")
  private val damaged = File(file.path + ".damaged")

  /**
   * Reads the records. A file that is not the kit's is set aside as `….damaged`, and the list begins again:
   * an old checkout must not keep the app from a new one.
   *
   * @return the records, and whether the file was damaged.
   */
  fun read(): Pair<List<CheckoutRecord>, Boolean> {
    // A process that ended while it wrote: the file itself is whole.
    next.delete()
    val bytes = try {
      if (!file.exists()) return Pair(emptyList(), false)
      if (file.length() > BYTES_MAX) null else file.readBytes()
    } catch (unreadable: IOException) {
      null
    }
    val records = bytes?.let { records(it) }
    if (records != null) return Pair(records, false)
    damaged.delete()
    file.renameTo(damaged)
    return Pair(emptyList(), true)
  }

  /**
   * Replaces the records: they are on the disk before this returns, and a process that ends meanwhile leaves
   * either the old or the new ones.
   */
  @Throws(IOException::class) fun write(records: List<CheckoutRecord>) {
    val bytes = Json.write(mapOf("version" to VERSION, "checkouts" to records.map { members(it) }))
      .toByteArray(Charsets.UTF_8)
    FileOutputStream(next).use { stream ->
      stream.write(bytes)
      stream.flush()
      stream.fd.sync()
    }
    // rename(2), which replaces the file in one step.
    if (!next.renameTo(file)) throw IOException("The file cannot be replaced")
  }

  private fun members(record: CheckoutRecord): Map<String, Any?> = mapOf(
    "context_id" to record.contextId, "user_id" to record.userId, "ply_context" to record.plyContext,
    "begun_at" to record.begunAtMillis, "attempts" to record.attempts, "next_attempt" to record.nextAttemptMillis)

  private fun records(bytes: ByteArray): List<CheckoutRecord>? {
    val root = Json.readObject(bytes) ?: return null
    if (root["version"] != JsonNumber("$VERSION")) return null
    val entries = root["checkouts"] as? List<*> ?: return null
    return entries.map { entry -> Json.asObject(entry)?.let { record(it) } ?: return null }
  }

  private fun record(members: Map<String, Any?>): CheckoutRecord? {
    fun number(name: String): Long? = (members[name] as? JsonNumber)?.long
    val contextId = members["context_id"] as? String ?: return null
    val userId = members["user_id"] as? String ?: return null
    if (!ContextId.isWellFormed(contextId)) return null
    return CheckoutRecord(
      contextId, userId, members["ply_context"] as? String, number("begun_at") ?: return null,
      number("attempts")?.coerceIn(0L, 1000L)?.toInt() ?: return null, number("next_attempt") ?: return null)
  }

  private companion object {
    const val VERSION = 1
    const val BYTES_MAX = 8L shl 20
  }
}
