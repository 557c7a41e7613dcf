// Files that are damaged or cannot be written, and the address of a page.

package checkoutkit

import checkoutkit.FakeTransport.Companion.posted
import java.io.File
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertTrue
import org.junit.Rule
import org.junit.Test
import org.junit.rules.TemporaryFolder

class CheckoutFileTest {
  @get:Rule val folder = TemporaryFolder()
  private val file: File get() = File(folder.root, "checkouts.json")
  private val logged = ArrayList<String>()
  private val pages = mapOf("price_1" to "https://buy.example.com/a")
  private val context = WebCheckoutContext("price_1")

  private fun checkouts() = Checkouts(
    RelayClient("https://pay.example.com", "android", transport = FakeTransport { request, _ -> posted(request) }),
    file, pages, log = { logged.add(it.forLog) })

  @Test fun aDamagedFileDoesNotStopASale() {
    for (damage in listOf("", "{", "[]", "{\"version\":2,\"checkouts\":[]}", "{\"version\":1}")) {
      file.writeText(damage)
      File("${file.path}.next").writeText("half a fi")
      val checkouts = checkouts()
      assertEquals("The file of checkouts was damaged, and begins again.", logged.last())
      assertEquals(damage, File("${file.path}.damaged").readText())
      assertTrue(checkouts.begin(context, "jdo-1").isPosted)
      assertEquals(1, checkouts().openIds("jdo-1").size)
    }
  }

  @Test fun aDamagedEntryIsLeftOut() {
    val id = checkouts().begin(context, "jdo-1").contextId
    val invalid = "{\"context_id\":\"x\",\"user_id\":\"u\",\"begun_at\":0,\"attempts\":0,\"next_attempt\":0}"
    file.writeText(file.readText().replace("[", "[{},1,$invalid,"))
    assertEquals(listOf(id), checkouts().openIds("jdo-1"))
    assertEquals(listOf("Of the file of checkouts 3 of 4 were damaged, and are left out."), logged)
    assertFalse(File("${file.path}.damaged").exists())
  }

  @Test fun aFileThatCannotBeReadNowIsKept() {
    val old = checkouts().begin(context, "jdo-1").contextId
    val whole = file.readBytes()
    // A folder cannot be read as a file, not even by root.
    file.delete()
    file.mkdir()
    val checkouts = checkouts()
    assertTrue(logged.single(), logged.single().startsWith("The file of checkouts could not be read: "))
    val new = checkouts.begin(context, "jdo-1").contextId
    assertEquals(listOf(new), checkouts.openIds("jdo-1"))
    assertTrue(file.isDirectory)
    file.delete()
    file.writeBytes(whole)
    // The next change reads it before it writes.
    val last = checkouts.begin(context, "jdo-1").contextId
    assertEquals(listOf(old, new, last), checkouts.openIds("jdo-1"))
    assertEquals(listOf(old, new, last), checkouts().openIds("jdo-1"))
  }

  @Test fun forgetsAUser() {
    file.writeText("{ \"user\": \"jdo-1\"")
    val checkouts = checkouts()
    checkouts.begin(context, "jdo-1")
    val other = checkouts.begin(context, "jdo-2").contextId
    assertTrue(File("${file.path}.damaged").exists())
    checkouts.forget("jdo-1")
    assertEquals(listOf(other), checkouts.openIds("jdo-2"))
    assertEquals(listOf("checkouts.json"), folder.root.list()!!.toList())
    assertFalse(file.readText().contains("jdo-1"))
    assertEquals(listOf(other), checkouts().openIds("jdo-2"))
    // Also when the file cannot be read.
    file.delete()
    file.mkdir()
    checkouts().forget("jdo-2")
    assertFalse(file.exists())
  }

  @Test fun aDamagedFileIsKeptForAMonth() {
    file.writeText("{")
    checkouts()
    val damaged = File("${file.path}.damaged")
    assertTrue(damaged.setLastModified(System.currentTimeMillis() - 29 * 86_400_000L))
    checkouts()
    assertTrue(damaged.exists())
    assertTrue(damaged.setLastModified(System.currentTimeMillis() - 31 * 86_400_000L))
    checkouts()
    assertFalse(damaged.exists())
  }

  @Test fun aDiskThatCannotBeWrittenDoesNotStopASale() {
    val checkouts = Checkouts(
      RelayClient("https://pay.example.com", "android", Credential.None, FakeTransport { request, _ -> posted(request) }),
      File(folder.root, "missing/folder/checkouts.json"), pages, log = { logged.add(it.forLog) })
    assertTrue(checkouts.begin(context, "jdo-1").isPosted)
    assertTrue(logged.first(), logged.first().startsWith("The file of checkouts could not be written: "))
    assertEquals(1, checkouts.openIds("jdo-1").size)
  }

  @Test fun addsTheIdToAnyPage() {
    for (row in KitTables.rows("links", "pages")) {
      assertEquals(row["opened"], CheckoutPage.with(row["url"] as String, "ID"))
    }
  }
}
