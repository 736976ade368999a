/*
** The catalog: tables of our own that describe what was created, and over them the views of sys and
** INFORMATION_SCHEMA, whose columns have SQL Server's types.
*/
#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char tables[] =
    "CREATE TABLE tdsd_schema(id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE UNIQUE);"
    "INSERT INTO tdsd_schema VALUES (1,'dbo'),(2,'guest'),(3,'INFORMATION_SCHEMA'),(4,'sys');"
    "CREATE TABLE tdsd_object(id INTEGER PRIMARY KEY, schema_id, name TEXT COLLATE NOCASE, type "
    "TEXT, parent INTEGER DEFAULT 0,"
    "  sqlite TEXT COLLATE NOCASE, definition TEXT, system DEFAULT 0, created TEXT, detail);"
    "CREATE INDEX tdsd_object_sqlite ON tdsd_object(sqlite);"
    "CREATE TABLE tdsd_column(object_id, id, name TEXT COLLATE NOCASE, type TEXT, collation TEXT, "
    "nullable DEFAULT 1, identity DEFAULT 0,"
    "  computed DEFAULT 0, hidden DEFAULT 0, sparse DEFAULT 0, definition TEXT, dflt TEXT,"
    "  generated DEFAULT 0, column_set DEFAULT 0, PRIMARY KEY(object_id, id));"
    "CREATE TABLE tdsd_index(object_id, id, name TEXT COLLATE NOCASE, is_unique DEFAULT 0, is_pk "
    "DEFAULT 0, is_uc DEFAULT 0,"
    "  clustered DEFAULT 0, filter TEXT, PRIMARY KEY(object_id, id));"
    "CREATE TABLE tdsd_index_column(object_id, index_id, id, column_id, descending DEFAULT 0, "
    "included DEFAULT 0);"
    "CREATE TABLE tdsd_foreign(id, n, parent, parent_column, referenced, referenced_column);"
    "CREATE TABLE tdsd_identity(name TEXT COLLATE NOCASE PRIMARY KEY, seed, step, last);"
    "CREATE TABLE tdsd_type(name TEXT COLLATE NOCASE, system_id, user_id, max_length, precision, "
    "scale, collation);"
    "CREATE TABLE tdsd_sequence(name TEXT PRIMARY KEY, value);"
    "INSERT INTO tdsd_sequence VALUES ('object', 901578250), ('rowversion', 2000);";

/* sys.columns and sys.all_columns. */
#define COLUMN_COLUMNS                                                                             \
  "object_id int,name sysname,column_id int,system_type_id tinyint,user_type_id int,max_length "   \
  "smallint,precision tinyint,scale tinyint,collation_name sysname,is_nullable "                   \
  "bit,is_ansi_padded bit,is_rowguidcol bit,is_identity bit,is_computed bit,is_filestream "        \
  "bit,is_replicated bit,is_xml_document bit,xml_collection_id int,default_object_id "             \
  "int,rule_object_id int,is_sparse bit,is_column_set bit,generated_always_type "                  \
  "tinyint,generated_always_type_desc nvarchar(60),encryption_type int,is_hidden bit,is_masked "   \
  "bit,graph_type int"
#define COLUMN_ROWS                                                                                \
  "SELECT object_id, name, id, tds_type_prop(type, 'system'), tds_type_prop(type, 'user'), "       \
  "tds_type_prop(type, 'length'), tds_type_prop(type, 'precision'), tds_type_prop(type, "          \
  "'scale'), collation, nullable, 1, 0, identity, computed, 0, 0, 0, 0, coalesce((SELECT o.id "    \
  "FROM tdsd_object AS o WHERE o.type = 'D' AND o.parent = c.object_id AND o.detail = c.id), "     \
  "0), 0, sparse, column_set, generated, CASE generated WHEN 1 THEN 'AS_ROW_START' WHEN 2 THEN "   \
  "'AS_ROW_END' ELSE 'NOT_APPLICABLE' END, NULL, hidden, 0, NULL FROM tdsd_column AS c"

/* name, columns with types, and what they are. */
static const struct {
  const char *name, *columns, *sql;
} views[] = {
    {"sys.schemas", "name sysname,schema_id int,principal_id int",
     "SELECT name, id, 1 FROM tdsd_schema"},
    {"sys.databases",
     "name sysname,database_id int,collation_name sysname,compatibility_level tinyint,state "
     "tinyint,state_desc nvarchar(60),is_read_committed_snapshot_on bit,snapshot_isolation_state "
     "tinyint,user_access tinyint,is_read_only bit,recovery_model tinyint,create_date datetime",
     "SELECT value, key + 1, 'SQL_Latin1_General_CP1_CI_AS', 160, 0, 'ONLINE', 1, 1, 0, 0, 3, "
     "'2026-01-01 00:00:00.000' FROM json_each(tds_databases())"},
    {"sys.types",
     "name sysname,system_type_id tinyint,user_type_id int,schema_id int,principal_id "
     "int,max_length smallint,precision tinyint,scale tinyint,collation_name sysname,is_nullable "
     "bit,is_user_defined bit,is_assembly_type bit,default_object_id int,rule_object_id "
     "int,is_table_type bit",
     "SELECT name, system_id, user_id, 4, NULL, max_length, precision, scale, collation, 1, 0, "
     "system_id = 240, 0, 0, 0 FROM tdsd_type"},
    {"sys.objects",
     "name sysname,object_id int,principal_id int,schema_id int,parent_object_id int,type "
     "char(2),type_desc nvarchar(60),create_date datetime,modify_date datetime,is_ms_shipped "
     "bit,is_published bit,is_schema_published bit",
     "SELECT name, id, NULL, schema_id, parent, type || substr('  ', 1, 2 - length(type)), CASE "
     "type WHEN 'U' THEN 'USER_TABLE' WHEN 'V' THEN 'VIEW' WHEN 'P' THEN 'SQL_STORED_PROCEDURE' "
     "WHEN 'PK' THEN 'PRIMARY_KEY_CONSTRAINT' WHEN 'UQ' THEN 'UNIQUE_CONSTRAINT' WHEN 'C' THEN "
     "'CHECK_CONSTRAINT' WHEN 'F' THEN 'FOREIGN_KEY_CONSTRAINT' WHEN 'D' THEN 'DEFAULT_CONSTRAINT' "
     "END, created, created, system, 0, 0 FROM tdsd_object WHERE system = 0"},
    {"sys.all_objects",
     "name sysname,object_id int,principal_id int,schema_id int,parent_object_id int,type "
     "char(2),type_desc nvarchar(60),create_date datetime,modify_date datetime,is_ms_shipped bit",
     "SELECT name, id, NULL, schema_id, parent, type || substr('  ', 1, 2 - length(type)), CASE "
     "type WHEN 'U' THEN 'USER_TABLE' WHEN 'V' THEN 'VIEW' ELSE 'OTHER' END, created, created, "
     "system FROM tdsd_object"},
    {"sys.tables",
     "name sysname,object_id int,principal_id int,schema_id int,parent_object_id int,type "
     "char(2),type_desc nvarchar(60),create_date datetime,modify_date datetime,is_ms_shipped "
     "bit,lob_data_space_id int,is_memory_optimized bit,temporal_type tinyint,is_external "
     "bit,is_node bit,is_edge bit,history_table_id int",
     "SELECT name, id, NULL, schema_id, 0, 'U ', 'USER_TABLE', created, created, 0, 0, 0, 0, 0, 0, "
     "0, NULL FROM tdsd_object WHERE type = 'U'"},
    {"sys.views",
     "name sysname,object_id int,principal_id int,schema_id int,parent_object_id int,type "
     "char(2),type_desc nvarchar(60),create_date datetime,modify_date datetime,is_ms_shipped "
     "bit,with_check_option bit",
     "SELECT name, id, NULL, schema_id, 0, 'V ', 'VIEW', created, created, 0, 0 FROM tdsd_object "
     "WHERE type = 'V' AND system = 0"},
    {"sys.procedures",
     "name sysname,object_id int,schema_id int,type char(2),type_desc nvarchar(60),is_ms_shipped "
     "bit",
     "SELECT name, id, schema_id, 'P ', 'SQL_STORED_PROCEDURE', 0 FROM tdsd_object WHERE type = "
     "'P'"},
    {"sys.synonyms", "name sysname,object_id int,schema_id int,base_object_name nvarchar(1035)",
     "SELECT name, id, schema_id, definition FROM tdsd_object WHERE type = 'SN'"},
    {"sys.columns", COLUMN_COLUMNS,
     COLUMN_ROWS " WHERE object_id IN (SELECT id FROM tdsd_object WHERE system = 0)"},
    {"sys.all_columns", COLUMN_COLUMNS, COLUMN_ROWS},
    {"sys.identity_columns",
     "object_id int,name sysname,column_id int,system_type_id tinyint,seed_value "
     "sql_variant,increment_value sql_variant,last_value sql_variant,is_identity bit,is_computed "
     "bit",
     "SELECT c.object_id, c.name, c.id, tds_type_prop(c.type, 'system'), tds_cast(i.seed, "
     "'bigint', 'sql_variant', 0, 0), tds_cast(i.step, 'bigint', 'sql_variant', 0, 0), "
     "tds_cast(CASE WHEN i.last >= i.seed THEN i.last END, 'bigint', 'sql_variant', 0, 0), 1, 0 "
     "FROM tdsd_column AS c JOIN tdsd_object AS o ON o.id = c.object_id JOIN tdsd_identity AS i ON "
     "i.name = o.sqlite WHERE c.identity"},
    {"sys.computed_columns",
     "object_id int,name sysname,column_id int,definition nvarchar(max),is_persisted "
     "bit,is_computed bit,uses_database_collation bit",
     "SELECT object_id, name, id, definition, 0, 1, 1 FROM tdsd_column WHERE computed"},
    {"sys.default_constraints",
     "name sysname,object_id int,schema_id int,parent_object_id int,parent_column_id "
     "int,definition nvarchar(max),is_system_named bit,type char(2)",
     "SELECT name, id, schema_id, parent, detail, definition, 1, 'D ' FROM tdsd_object WHERE type "
     "= 'D'"},
    {"sys.check_constraints",
     "name sysname,object_id int,schema_id int,parent_object_id int,parent_column_id "
     "int,definition nvarchar(max),is_disabled bit,type char(2)",
     "SELECT name, id, schema_id, parent, 0, definition, 0, 'C ' FROM tdsd_object WHERE type = "
     "'C'"},
    {"sys.key_constraints",
     "name sysname,object_id int,schema_id int,parent_object_id int,type char(2),type_desc "
     "nvarchar(60),unique_index_id int,is_system_named bit",
     "SELECT o.name, o.id, o.schema_id, o.parent, o.type, CASE o.type WHEN 'PK' THEN "
     "'PRIMARY_KEY_CONSTRAINT' ELSE 'UNIQUE_CONSTRAINT' END, i.id, 1 FROM tdsd_object AS o JOIN "
     "tdsd_index AS i ON i.object_id = o.parent AND i.name = o.name WHERE o.type IN ('PK', 'UQ')"},
    {"sys.indexes",
     "object_id int,name sysname,index_id int,type tinyint,type_desc nvarchar(60),is_unique "
     "bit,data_space_id int,ignore_dup_key bit,is_primary_key bit,is_unique_constraint "
     "bit,fill_factor tinyint,is_padded bit,is_disabled bit,is_hypothetical bit,has_filter "
     "bit,filter_definition nvarchar(max)",
     "SELECT object_id, name, id, CASE WHEN clustered THEN 1 ELSE 2 END, CASE WHEN clustered THEN "
     "'CLUSTERED' ELSE 'NONCLUSTERED' END, is_unique, 1, 0, is_pk, is_uc, 0, 0, 0, 0, filter IS "
     "NOT NULL, filter FROM tdsd_index UNION ALL SELECT id, NULL, 0, 0, 'HEAP', 0, 1, 0, 0, 0, 0, "
     "0, 0, 0, 0, NULL FROM tdsd_object AS o WHERE type = 'U' AND NOT EXISTS (SELECT 1 FROM "
     "tdsd_index AS i WHERE i.object_id = o.id AND i.clustered)"},
    {"sys.index_columns",
     "object_id int,index_id int,index_column_id int,column_id int,key_ordinal "
     "tinyint,partition_ordinal tinyint,is_descending_key bit,is_included_column bit",
     "SELECT object_id, index_id, id, column_id, CASE WHEN included THEN 0 ELSE id END, 0, "
     "descending, included FROM tdsd_index_column"},
    {"sys.foreign_keys",
     "name sysname,object_id int,schema_id int,parent_object_id int,referenced_object_id "
     "int,is_disabled bit,delete_referential_action tinyint,update_referential_action tinyint,type "
     "char(2)",
     "SELECT name, id, schema_id, parent, detail, 0, 0, 0, 'F ' FROM tdsd_object WHERE type = 'F'"},
    {"sys.foreign_key_columns",
     "constraint_object_id int,constraint_column_id int,parent_object_id int,parent_column_id "
     "int,referenced_object_id int,referenced_column_id int",
     "SELECT id, n, parent, parent_column, referenced, referenced_column FROM tdsd_foreign"},
    {"sys.partitions",
     "partition_id bigint,object_id int,index_id int,partition_number int,hobt_id bigint,rows "
     "bigint,data_compression tinyint",
     "SELECT i.object_id * 256 + i.index_id, i.object_id, i.index_id, 1, i.object_id * 256 + "
     "i.index_id, tds_rows(o.sqlite), 0 FROM \"sys.indexes\" AS i JOIN tdsd_object AS o ON o.id = "
     "i.object_id"},
    {"sys.dm_db_partition_stats",
     "partition_id bigint,object_id int,index_id int,partition_number int,row_count "
     "bigint,used_page_count bigint,reserved_page_count bigint",
     "SELECT i.object_id * 256 + i.index_id, i.object_id, i.index_id, 1, tds_rows(o.sqlite), 1, 1 "
     "FROM \"sys.indexes\" AS i JOIN tdsd_object AS o ON o.id = i.object_id"},
    {"sys.sql_modules", "object_id int,definition nvarchar(max),uses_ansi_nulls bit",
     "SELECT id, definition, 1 FROM tdsd_object WHERE type IN ('V', 'P') AND system = 0"},
    {"sys.extended_properties",
     "class tinyint,class_desc nvarchar(60),major_id int,minor_id int,name sysname,value "
     "sql_variant",
     "SELECT NULL, NULL, NULL, NULL, NULL, NULL WHERE false"},
    {"sys.triggers",
     "name sysname,object_id int,parent_id int,is_disabled bit,is_instead_of_trigger bit",
     "SELECT NULL, NULL, NULL, NULL, NULL WHERE false"},
    {"sys.periods",
     "name sysname,period_type tinyint,object_id int,start_column_id int,end_column_id int",
     "SELECT NULL, NULL, NULL, NULL, NULL WHERE false"},
    {"sys.configurations",
     "configuration_id int,name nvarchar(35),value sql_variant,value_in_use sql_variant",
     "SELECT NULL, NULL, NULL, NULL WHERE false"},
    {"sys.dm_exec_connections",
     "session_id int,encrypt_option nvarchar(40),net_transport nvarchar(40),protocol_type "
     "nvarchar(40),auth_scheme nvarchar(40),client_net_address varchar(48)",
     "SELECT tds_session('spid'), tds_session('encrypt'), 'TCP', 'TSQL', 'SQL', '127.0.0.1'"},
    {"sys.dm_exec_sessions",
     "session_id smallint,login_name nvarchar(128),program_name nvarchar(128),host_name "
     "nvarchar(128),client_interface_name nvarchar(32),transaction_isolation_level "
     "smallint,open_transaction_count int,database_id smallint",
     "SELECT tds_session('spid'), tds_session('user'), tds_session('app'), tds_session('host'), "
     "tds_session('library'), tds_session('isolation'), tds_session('trancount'), tds_db_id()"},
    {"INFORMATION_SCHEMA.SCHEMATA",
     "CATALOG_NAME nvarchar(128),SCHEMA_NAME nvarchar(128),SCHEMA_OWNER nvarchar(128)",
     "SELECT tds_db_name(), name, 'dbo' FROM tdsd_schema"},
    {"INFORMATION_SCHEMA.TABLES",
     "TABLE_CATALOG nvarchar(128),TABLE_SCHEMA nvarchar(128),TABLE_NAME nvarchar(128),TABLE_TYPE "
     "varchar(10)",
     "SELECT tds_db_name(), s.name, o.name, CASE o.type WHEN 'U' THEN 'BASE TABLE' ELSE 'VIEW' END "
     "FROM tdsd_object AS o JOIN tdsd_schema AS s ON s.id = o.schema_id WHERE o.type IN ('U', 'V') "
     "AND o.system = 0"},
    {"INFORMATION_SCHEMA.VIEWS",
     "TABLE_CATALOG nvarchar(128),TABLE_SCHEMA nvarchar(128),TABLE_NAME "
     "nvarchar(128),VIEW_DEFINITION nvarchar(4000)",
     "SELECT tds_db_name(), s.name, o.name, o.definition FROM tdsd_object AS o JOIN tdsd_schema AS "
     "s ON s.id = o.schema_id WHERE o.type = 'V' AND o.system = 0"},
    {"INFORMATION_SCHEMA.COLUMNS",
     "TABLE_CATALOG nvarchar(128),TABLE_SCHEMA nvarchar(128),TABLE_NAME nvarchar(128),COLUMN_NAME "
     "nvarchar(128),ORDINAL_POSITION int,COLUMN_DEFAULT nvarchar(4000),IS_NULLABLE "
     "varchar(3),DATA_TYPE nvarchar(128),CHARACTER_MAXIMUM_LENGTH int,CHARACTER_OCTET_LENGTH "
     "int,NUMERIC_PRECISION tinyint,NUMERIC_SCALE int,DATETIME_PRECISION smallint,COLLATION_NAME "
     "nvarchar(128)",
     "SELECT tds_db_name(), s.name, o.name, c.name, c.id, c.dflt, CASE WHEN c.nullable THEN 'YES' "
     "ELSE 'NO' END, tds_type_prop(c.type, 'name'), tds_type_prop(c.type, 'characters'), "
     "tds_type_prop(c.type, 'octets'), tds_type_prop(c.type, 'digits'), tds_type_prop(c.type, "
     "'decimals'), tds_type_prop(c.type, 'fraction'), c.collation FROM tdsd_column AS c JOIN "
     "tdsd_object AS o ON o.id = c.object_id JOIN tdsd_schema AS s ON s.id = o.schema_id WHERE "
     "o.type IN ('U', 'V') AND o.system = 0"},
    {"INFORMATION_SCHEMA.TABLE_CONSTRAINTS",
     "CONSTRAINT_CATALOG nvarchar(128),CONSTRAINT_SCHEMA nvarchar(128),CONSTRAINT_NAME "
     "nvarchar(128),TABLE_SCHEMA nvarchar(128),TABLE_NAME nvarchar(128),CONSTRAINT_TYPE "
     "varchar(11)",
     "SELECT tds_db_name(), s.name, k.name, s.name, o.name, CASE k.type WHEN 'PK' THEN 'PRIMARY "
     "KEY' WHEN 'UQ' THEN 'UNIQUE' WHEN 'C' THEN 'CHECK' ELSE 'FOREIGN KEY' END FROM tdsd_object "
     "AS k JOIN tdsd_object AS o ON o.id = k.parent JOIN tdsd_schema AS s ON s.id = o.schema_id "
     "WHERE k.type IN ('PK', 'UQ', 'C', 'F')"},
    {"INFORMATION_SCHEMA.KEY_COLUMN_USAGE",
     "CONSTRAINT_CATALOG nvarchar(128),CONSTRAINT_SCHEMA nvarchar(128),CONSTRAINT_NAME "
     "nvarchar(128),TABLE_SCHEMA nvarchar(128),TABLE_NAME nvarchar(128),COLUMN_NAME "
     "nvarchar(128),ORDINAL_POSITION int",
     "SELECT tds_db_name(), s.name, i.name, s.name, o.name, c.name, k.id FROM tdsd_index AS i JOIN "
     "tdsd_object AS o ON o.id = i.object_id JOIN tdsd_schema AS s ON s.id = o.schema_id JOIN "
     "tdsd_index_column AS k ON k.object_id = i.object_id AND k.index_id = i.id JOIN tdsd_column "
     "AS c ON c.object_id = k.object_id AND c.id = k.column_id WHERE i.is_pk OR i.is_uc"},
};

/* Making -----------------------------------------------------------------------------------------*/

static void add_view(Buf *sql, size_t i) {
  const char *dot = strchr(views[i].name, '.');
  int id = -1000 - (int)i, column = 0;
  bool sys = strncmp(views[i].name, "sys", 3) == 0;
  buf_printf(sql,
             "INSERT INTO tdsd_object(id, schema_id, name, type, sqlite, system, created) VALUES "
             "(%d, %d, '%s', 'V', '%s', 1, '2026-01-01 00:00:00.000');",
             id, sys ? 4 : 3, dot + 1, views[i].name);
  buf_printf(sql, "CREATE VIEW \"%s\"(", views[i].name);
  char *copy = xstrdup(views[i].columns), *p = copy;
  Buf rows = {0}, names = {0}, list = {0};
  while (p != NULL && *p != 0) {
    char *blank = strchr(p, ' '), *end = blank;
    int depth = 0;
    while (*end != 0 && (*end != ',' || depth > 0)) {
      depth += *end == '(' ? 1 : *end == ')' ? -1 : 0;
      end++;
    }
    bool more = *end == ',';
    *blank = 0;
    *end = 0;
    /* Text compares as in any other column: blanks at the end aside. */
    bool text = strstr(blank + 1, "char") != NULL || strcmp(blank + 1, "sysname") == 0;
    buf_printf(&names, "%s%s", column ? "," : "", p);
    buf_printf(&list, "%s%s%s", column ? "," : "", p, text ? " COLLATE TDS_CI" : "");
    buf_printf(&rows,
               "INSERT INTO tdsd_column(object_id, id, name, type) VALUES (%d, %d, '%s', '%s');",
               id, ++column, p, blank + 1);
    p = more ? end + 1 : NULL;
  }
  buf_printf(sql, "%s) AS WITH made(%s) AS (%s) SELECT %s FROM made;%s", buf_string(&names),
             buf_string(&names), views[i].sql, buf_string(&list), buf_string(&rows));
  buf_free(&rows);
  buf_free(&names);
  buf_free(&list);
  free(copy);
}

static void add_types(Buf *sql) {
  static const struct {
    const char *name;
    int user;
  } special[] = {{"sysname", 256}, {"hierarchyid", 128}, {"geometry", 129}, {"geography", 130}};
  for (int k = K_BIT; k < K_COUNT; k++) {
    Type t = type_make((Kind)k, 0, 38,
                       k == K_DECIMAL || k == K_NUMERIC                           ? 38
                       : k == K_TIME || k == K_DATETIME2 || k == K_DATETIMEOFFSET ? 7
                                                                                  : 0);
    if (k == K_UDT) continue;
    int length = type_class(&t) == C_TEXT && type_max_length(&t) == 0 ? 8000
                 : type_max_length(&t) == 0                           ? 8000
                                                                      : type_max_length(&t);
    buf_printf(sql, "INSERT INTO tdsd_type VALUES ('%s', %d, %d, %d, %d, %d, %s);", type_name(&t),
               type_system_id(&t), type_system_id(&t), length, type_precision(&t), type_scale(&t),
               type_class(&t) == C_TEXT && k != K_XML && k != K_JSON
                   ? "'SQL_Latin1_General_CP1_CI_AS'"
                   : "NULL");
  }
  for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
    bool name = i == 0;
    buf_printf(sql, "INSERT INTO tdsd_type VALUES ('%s', %d, %d, %d, 0, 0, %s);", special[i].name,
               name ? 231 : 240, special[i].user,
               name     ? 256
               : i == 1 ? 892
                        : -1,
               name ? "'SQL_Latin1_General_CP1_CI_AS'" : "NULL");
  }
}

bool catalog_create(sqlite3 *db, const char *database) {
  Buf sql = {0};
  (void)database;
  buf_text(&sql, "BEGIN;");
  buf_text(&sql, tables);
  add_types(&sql);
  for (size_t i = 0; i < sizeof views / sizeof *views; i++) add_view(&sql, i);
  buf_text(&sql, "COMMIT;");
  bool ok = sqlite3_exec(db, buf_string(&sql), NULL, NULL, NULL) == SQLITE_OK;
  buf_free(&sql);
  return ok;
}

/* Asking -----------------------------------------------------------------------------------------*/

void catalog_name(const char *schema, const char *name, char out[300]) {
  bool plain = name[0] == '#' || schema[0] == 0 || strcasecmp(schema, "dbo") == 0;
  if (plain) {
    snprintf(out, 300, "%s", name);
  } else {
    snprintf(out, 300, "%.128s.%.128s", schema, name);
  }
}

bool catalog_synonym(Session *s, const char *sqlite_name, char base[1100]) {
  static const char sql[] =
      "SELECT definition FROM main.tdsd_object WHERE type = 'SN' AND sqlite = ?";
  int code;
  sqlite3_stmt *statement = kept_prepare(s, sql, &code);
  if (statement == NULL) return false;
  sqlite3_bind_text(statement, 1, sqlite_name, -1, SQLITE_TRANSIENT);
  bool found = sqlite3_step(statement) == SQLITE_ROW;
  if (found) snprintf(base, 1100, "%s", (const char *)sqlite3_column_text(statement, 0));
  kept_finish(s, statement);
  return found;
}

void name_split(const char *text, char parts[4][130]) {
  size_t n = 0;
  char close = 0;
  memset(parts, 0, 4 * 130);
  for (const char *p = text; *p != 0; p++) {
    if (close == 0 && (*p == '[' || *p == '"')) {
      close = *p == '[' ? ']' : '"';
    } else if (close != 0 && *p == close && p[1] != close) {
      close = 0;
    } else if (close == 0 && *p == '.') {
      memmove(parts[0], parts[1], 3 * 130);
      memset(parts[3], 0, 130);
      n = 0;
    } else if (n < 129) {
      p += close != 0 && *p == close; /* ]] */
      parts[3][n++] = *p;
    }
  }
}

int64_t catalog_int(Session *s, const char *sql, const char *text, int64_t none) {
  int64_t value = none;
  int code;
  sqlite3_stmt *statement = kept_prepare(s, sql, &code);
  if (statement == NULL) return none;
  if (text != NULL) sqlite3_bind_text(statement, 1, text, -1, SQLITE_TRANSIENT);
  if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL)
    value = sqlite3_column_int64(statement, 0);
  kept_finish(s, statement);
  return value;
}

int catalog_columns(Session *s, const char *sqlite_name, Column **columns) {
  return catalog_columns_of(s, sqlite_name[0] == '#' ? "temp" : "main", sqlite_name, columns);
}

int catalog_columns_of(Session *s, const char *schema, const char *sqlite_name, Column **columns) {
  Buf sql = {0};
  int n = -1, code;
  *columns = NULL;
  /* With o.id's affinity, the index of columns, which have none, would not be used. */
  buf_printf(&sql,
             "SELECT o.name, c.name, c.type, c.collation, c.nullable, c.identity, c.computed, "
             "c.hidden, c.id, c.dflt, c.generated, c.column_set FROM \"%s\".tdsd_object AS o LEFT "
             "JOIN \"%s\".tdsd_column AS c ON c.object_id = +o.id WHERE o.sqlite = ? AND o.type IN "
             "('U', 'V') ORDER BY c.id",
             schema, schema);
  sqlite3_stmt *statement = kept_prepare(s, buf_string(&sql), &code);
  buf_free(&sql);
  if (statement == NULL) return -1;
  sqlite3_bind_text(statement, 1, sqlite_name, -1, SQLITE_TRANSIENT);
  while (sqlite3_step(statement) == SQLITE_ROW) {
    if (n < 0) n = 0;
    if (sqlite3_column_type(statement, 8) == SQLITE_NULL) break;
    *columns = realloc(*columns, (size_t)(n + 1) * sizeof **columns);
    if (*columns == NULL) abort();
    Column *k = &(*columns)[n++];
    *k = (Column){.nullable = sqlite3_column_int(statement, 4),
                  .identity = sqlite3_column_int(statement, 5),
                  .computed = sqlite3_column_int(statement, 6),
                  .hidden = sqlite3_column_int(statement, 7),
                  .generated = sqlite3_column_int(statement, 10),
                  .column_set = sqlite3_column_int(statement, 11)};
    k->has_default = sqlite3_column_type(statement, 9) != SQLITE_NULL;
    snprintf(k->table, sizeof k->table, "%s", (const char *)sqlite3_column_text(statement, 0));
    snprintf(k->name, sizeof k->name, "%s", (const char *)sqlite3_column_text(statement, 1));
    type_parse((const char *)sqlite3_column_text(statement, 2), &k->type);
    const char *collation = (const char *)sqlite3_column_text(statement, 3);
    if (collation != NULL) k->type.collation = collation_find(collation);
  }
  kept_finish(s, statement);
  return n;
}
