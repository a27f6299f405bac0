package io.github.sparkjoinery.guard;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Looks up the classes and members of Spark that the jar uses, as the build has listed them. It reads class files, and
 * loads no class. A line of the list is a class, or a class, a member and the member's descriptor.
 */
final class References {
  private static final String LIST = "/joinery-references.txt";

  private final ClassLoader loader;
  private final Map<String, ClassFile> read = new HashMap<>();

  private References(ClassLoader loader) {
    this.loader = loader;
  }

  /** Returns the references that have no target, in words. None if the build has not listed any. */
  static List<String> missing(ClassLoader loader) {
    InputStream list = References.class.getResourceAsStream(LIST);
    return list == null ? new ArrayList<>() : missing(loader, list);
  }

  static List<String> missing(ClassLoader loader, InputStream list) {
    References references = new References(loader);
    List<String> missing = new ArrayList<>();
    try (BufferedReader lines = new BufferedReader(new InputStreamReader(list, StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] words = line.split(" ");
        boolean exists = words.length == 1
            ? references.file(words[0]) != null
            : references.has(words[0], words[1] + words[2]);
        if (!exists) missing.add(words[0].replace('/', '.') + (words.length == 1 ? "" : "." + words[1]));
      }
    } catch (IOException e) {
      throw new IllegalStateException("Joinery's jar is damaged: its list of references cannot be read", e);
    }
    return missing;
  }

  /** True if a class, or a class or interface above it, has a member, or if the class is missing: it has its own line. */
  private boolean has(String owner, String member) {
    ClassFile file = file(owner);
    return file == null || file.members.contains(member) || isInherited(file, member);
  }

  private boolean isInherited(ClassFile file, String member) {
    for (String name : file.parents) {
      ClassFile parent = file(name);
      if (parent != null && (parent.members.contains(member) || isInherited(parent, member))) return true;
    }
    return false;
  }

  private ClassFile file(String name) {
    if (!read.containsKey(name)) {
      try (InputStream bytes = loader.getResourceAsStream(name + ".class")) {
        read.put(name, bytes == null ? null : new ClassFile(bytes));
      } catch (IOException e) {
        throw new IllegalStateException("the class file of " + name + " cannot be read", e);
      }
    }
    return read.get(name);
  }
}
